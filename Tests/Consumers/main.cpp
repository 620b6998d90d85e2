// Reads the quotation that the C program wrote.
#include <quire.h>

#include <iostream>
#include <memory>
#include <string>

struct Release {
    void operator()(quire_model *model) const { quire_model_release(model); }
    void operator()(quire_store *store) const { quire_store_release(store); }
    void operator()(quire_context *context) const { quire_context_release(context); }
    void operator()(quire_predicate *predicate) const { quire_predicate_release(predicate); }
    void operator()(quire_fetch_request *request) const { quire_fetch_request_release(request); }
};

template <typename Handle>
using Owned = std::unique_ptr<Handle, Release>;

int main(int argument_count, char **arguments) {
    if (argument_count != 2) return 2;
    Owned<quire_model> model(quire_model_create());
    quire_model_add_entity(model.get(), "Quote", QUIRE_NUL, nullptr, nullptr);
    quire_model_add_attribute(model.get(), "Quote", QUIRE_NUL, "contents", QUIRE_NUL, QUIRE_TYPE_STRING, nullptr, nullptr);

    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.must_exist = true;
    quire_store *opened = nullptr;
    quire_error *error = nullptr;
    if (quire_store_open(arguments[1], QUIRE_NUL, model.get(), &options, &opened, &error) != QUIRE_OK) {
        std::cerr << quire_error_message(error).data << "\n";
        quire_error_release(error);
        return 1;
    }
    Owned<quire_store> store(opened);
    quire_context *made = nullptr;
    quire_context_create(store.get(), &made, nullptr);
    Owned<quire_context> context(made);

    const quire_value word = quire_value_text("LIGHT");
    quire_predicate *parsed = nullptr;
    if (quire_predicate_format(&parsed, nullptr, "contents CONTAINS[cd] %@", &word) != QUIRE_OK) return 1;
    Owned<quire_predicate> predicate(parsed);
    quire_fetch_request *created = nullptr;
    quire_fetch_request_create("Quote", QUIRE_NUL, &created, nullptr);
    Owned<quire_fetch_request> request(created);
    quire_fetch_request_set_predicate(request.get(), predicate.get(), nullptr);

    int64_t count = 0;
    if (quire_context_count(context.get(), request.get(), &count, nullptr) != QUIRE_OK) return 1;
    std::cout << "found " << count << "\n";
    return count == 1 ? 0 : 1;
}
