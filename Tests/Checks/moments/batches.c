/* Batch requests, which write at once. */
#include "acts.h"
#include "dice.h"

static quire_fetch_request *request_of(const char *entity, const char *format, const quire_value *arguments, size_t count) {
    quire_fetch_request *request = NULL;
    quire_predicate *predicate = NULL;
    DO(quire_fetch_request_create(entity, QUIRE_NUL, &request, &failure));
    DO(quire_predicate_parse(format, QUIRE_NUL, arguments, count, &predicate, &failure));
    DO(quire_fetch_request_set_predicate(request, predicate, &failure));
    quire_predicate_release(predicate);
    return request;
}

/* Of items and of the row of the writer, and sometimes of all crates, in one statement. */
void batch_update(side *side) {
    state next;
    prepare_move(side);
    begin_commit();
    if (!read_state(newest_number(), &next)) fault("the newest commit is not kept");
    const state newest = next;
    const int first = random_below(ITEMS), last = first + random_below(ITEMS / 2);
    for (int i = first; i <= last && i < ITEMS; i++)
        if (next.items[i].exists) next.items[i].stamp = number_of(&newest) + 1;
    const int64_t number = number_commit(side->writer, &newest, &next);
    const bool has_crates = chance(30);
    if (has_crates) next.crate_stamp = number;
    announce_commit(&next);
    static const char *const keys[] = {"stamp"};
    const quire_value stamp = quire_value_integer(number);
    const quire_value bounds[] = {quire_value_integer(first), quire_value_integer(last), quire_value_integer(-1 - side->writer),
        quire_value_integer(has_crates ? FIRST_CRATE : INT64_MAX)};
    quire_fetch_request *request = request_of("Row", "number BETWEEN {%@, %@} OR number == %@ OR number >= %@", bounds, 4);
    expect(ADVANCING(quire_context_batch_update(side->context, request, keys, &stamp, 1, NULL, NULL, NULL, &failure)), QUIRE_OK,
        "a batch update");
    quire_fetch_request_release(request);
    file_commit();
    move_to(side, number, "its batch update");
    end_commit();
}

static void batch_insert(side *side, state *next) {
    static const char *const keys[] = {"number", "name", "shelf", "amount"};
    quire_value columns[4][2];
    const quire_value *const pointers[] = {columns[0], columns[1], columns[2], columns[3]};
    size_t count = 0;
    for (int i = side->writer * ITEMS_OF_ONE; i < (side->writer + 1) * ITEMS_OF_ONE && count < 2; i++) {
        if (next->items[i].exists || side->view.items[i].exists || side->base.items[i].exists) continue;
        item *made = &next->items[i];
        *made = (item){.exists = true, .name = (uint8_t)random_below(NAMES), .shelf = (uint8_t)random_below(SHELVES),
            .amount = (uint8_t)random_below(AMOUNTS), .owner = NO_OWNER, .born = next_birth()};
        columns[0][count] = quire_value_integer(i), columns[1][count] = quire_value_text(names[made->name]);
        columns[2][count] = quire_value_integer(made->shelf), columns[3][count] = quire_value_integer(made->amount);
        count++;
    }
    if (!count) return;
    expect(ADVANCING(quire_context_batch_insert(side->context, "Item", QUIRE_NUL, keys, pointers, 4, count, NULL, NULL, NULL, &failure)),
        QUIRE_OK, "a batch insertion");
}

static void batch_delete(side *side, state *next) {
    const int shelf = random_below(SHELVES), amount = random_below(AMOUNTS);
    const quire_value bounds[] = {quire_value_integer(shelf), quire_value_integer(amount)};
    for (int i = 0; i < ITEMS; i++)
        if (next->items[i].exists && next->items[i].shelf == shelf && next->items[i].amount == amount)
            next->items[i] = (item){.exists = false};
    quire_fetch_request *request = request_of("Item", "shelf == %@ AND amount == %@", bounds, 2);
    expect(ADVANCING(quire_context_batch_delete(side->context, request, NULL, NULL, NULL, &failure)), QUIRE_OK, "a batch deletion");
    quire_fetch_request_release(request);
}

void batch_rows(side *side, bool in_transaction) {
    state newest, next;
    DO(ADVANCING(quire_context_process_pending(side->context, &failure)));
    if (quire_context_has_changes(side->context)) return;
    begin_commit();
    if (!read_state(newest_number(), &newest)) fault("the newest commit is not kept");
    next = newest;
    /* What another thread may see before the commit has to be known before it; the rows are chosen within the call. */
    if (in_transaction) DO(ADVANCING(quire_context_begin_transaction(side->context, &failure)));
    side->is_changing = true;
    if (chance(60)) batch_insert(side, &next);
    else batch_delete(side, &next);
    side->is_changing = false;
    const int64_t number = number_commit(side->writer, &newest, &next);
    announce_commit(&next);
    set_number(side, number);
    if (in_transaction)
        expect(ADVANCING(quire_context_commit_transaction(side->context, &failure)), QUIRE_OK, "the commit of a transaction");
    else expect(ADVANCING(quire_context_save(side->context, &failure)), QUIRE_OK, "a save after a batch request");
    file_commit();
    move_to(side, number, in_transaction ? "its transaction" : "its batch request and its save");
    end_commit();
}
