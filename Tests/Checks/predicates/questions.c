#include "questions.h"

#include <stdlib.h>
#include <string.h>

const char *const stage_names[STAGES] = {"saved", "unsaved", "mixed"};
const char *const question_names[QUESTIONS] = {
    "saved, fetched", "saved, by object", "unsaved, fetched", "unsaved, by object", "mixed, fetched", "mixed, by object"};
world rows;
stage stages[STAGES];
stage earlier;
answer answers[QUESTIONS];
char canonical[MOST_TEXT];
char complaint[1024];

void open_stages(void) {
    for (int i = 0; i < STAGES; i++) open_stage(&stages[i], &rows, (stage_kind)i);
    open_stage(&earlier, &rows, EARLIER);
}

void close_stages(void) {
    for (int i = 0; i < STAGES; i++) close_stage(&stages[i]);
    close_stage(&earlier);
}

void drop_error(void) {
    quire_error_release(error);
    error = NULL;
}

static void take_error(answer *answer, quire_status status) {
    answer->status = status;
    snprintf(answer->message, sizeof answer->message, "%s", error ? quire_error_message(error).data : "an error without a message");
    drop_error();
}

static int slot_of(const stage *stage, const quire_object *object) {
    for (int slot = 0; slot < rows.row_count; slot++)
        if (stage->objects[slot] == object) return slot;
    return -1;
}

int slot_of_id(int64_t id, int entity) {
    for (int slot = 0; slot < SLOTS; slot++)
        if (earlier.objects[slot] && is_kind_of(&rows, rows.rows[slot].entity, entity)
            && quire_object_id(earlier.objects[slot]) == id) return slot;
    return -1;
}

/* --- Asking. */

static bool is_asked(const stage *stage, int slot, int entity) {
    return stage->objects[slot] && is_kind_of(&rows, rows.rows[slot].entity, entity);
}

static answer by_object(const stage *stage, int entity, const quire_predicate *predicate) {
    answer answer = {QUIRE_OK, {false}, "", false};
    answer.is_vacuous = true;
    for (int slot = 0; slot < rows.row_count; slot++) {
        if (!is_asked(stage, slot, entity)) continue;
        answer.is_vacuous = false;
        const quire_status status = quire_predicate_matches(predicate, stage->objects[slot], &answer.holds[slot], &error);
        if (status != QUIRE_OK) {
            take_error(&answer, status);
            break;
        }
    }
    return answer;
}

quire_fetch_request *new_request(int entity, quire_predicate *predicate) {
    quire_fetch_request *request = NULL;
    OK(quire_fetch_request_create(rows.entities[entity].name, QUIRE_NUL, &request, &error));
    OK(quire_fetch_request_set_predicate(request, predicate, &error));
    return request;
}

quire_status fetch(const stage *stage, const quire_fetch_request *request, int *out_slots, int *out_count) {
    quire_list *list = NULL;
    *out_count = 0;
    const quire_status status = quire_context_fetch(stage->context, request, &list, &error);
    if (status != QUIRE_OK) return status;
    for (int64_t i = 0; i < quire_list_count(list) && i < SLOTS; i++) {
        quire_object *object = NULL;
        OK(quire_list_object(list, i, &object, &error));
        out_slots[(*out_count)++] = slot_of(stage, object);
        quire_object_release(object);
    }
    quire_list_release(list);
    return QUIRE_OK;
}

static answer by_fetch(const stage *stage, int entity, quire_predicate *predicate) {
    answer answer = {QUIRE_OK, {false}, "", false};
    quire_fetch_request *request = new_request(entity, predicate);
    int slots[SLOTS], count;
    int64_t counted = -1;
    const quire_status status = fetch(stage, request, slots, &count);
    if (status != QUIRE_OK) take_error(&answer, status);
    for (int i = 0; i < count; i++) {
        if (slots[i] >= 0 && !answer.holds[slots[i]]) answer.holds[slots[i]] = true;
        else snprintf(answer.message, sizeof answer.message, "the fetch gives a row twice, or one that is not there");
    }
    const quire_status count_status = quire_context_count(stage->context, request, &counted, &error);
    if (count_status != status || (status == QUIRE_OK && counted != count))
        snprintf(answer.message, sizeof answer.message, "the fetch gives %d (%s), the count %lld (%s)", count,
            quire_status_name(status), (long long)counted, quire_status_name(count_status));
    drop_error();
    quire_fetch_request_release(request);
    return answer;
}

/* --- Comparing. */

/* Which kind of answer it is. */
static outcome judge_answers(bool has_choice) {
    int failures = 0, asked = 0;
    for (int i = 0; i < QUESTIONS; i++) {
        if (answers[i].is_vacuous) continue;
        asked++;
        if (answers[i].status == QUIRE_UNSUPPORTED) continue;
        if (answers[i].status != QUIRE_OK) failures++;
        else if (answers[i].message[0]) {
            snprintf(complaint, sizeof complaint, "%s: %s", question_names[i], answers[i].message);
            return DIFFERENT;
        }
    }
    int unsupported = 0, first = -1;
    for (int i = 0; i < QUESTIONS; i++) {
        if (answers[i].status == QUIRE_UNSUPPORTED) unsupported++;
        if (answers[i].status != QUIRE_OK) continue;
        if (first < 0) first = i;
        for (int slot = 0; slot < rows.row_count; slot++) {
            if (answers[i].holds[slot] == answers[first].holds[slot]) continue;
            snprintf(complaint, sizeof complaint, "%s and %s differ", question_names[first], question_names[i]);
            return DIFFERENT;
        }
    }
    if (unsupported) return NOT_SUPPORTED;
    if (failures == 0) return SAME;
    if (failures == asked) return FAILED;
    /* SQL need not evaluate what cannot change its answer. */
    bool fails_in_memory = true;
    for (int i = 1; i < QUESTIONS; i += 2) fails_in_memory &= answers[i].is_vacuous || answers[i].status != QUIRE_OK;
    if (has_choice || fails_in_memory) return HALF_AN_ERROR;
    snprintf(complaint, sizeof complaint, "some fail, and some answer");
    return DIFFERENT;
}

quire_predicate *parse(const node *node, const stage *stage) {
    static rendering rendering;
    if (!render(node, stage, &rendering)) return NULL;
    quire_predicate *predicate = NULL;
    const quire_status status = quire_predicate_parse(
        rendering.text, rendering.size, rendering.arguments, (size_t)rendering.argument_count, &predicate, &error);
    if (status == QUIRE_OK) return predicate;
    snprintf(complaint, sizeof complaint, "reading %.*s fails: %s", (int)rendering.size, rendering.text,
        quire_error_message(error).data);
    drop_error();
    return NULL;
}

static bool prints_the_same(const quire_predicate *predicate) {
    const quire_string text = quire_predicate_text(predicate);
    quire_predicate *again = NULL;
    if (quire_predicate_parse(text.data, text.size, NULL, 0, &again, &error) != QUIRE_OK) {
        snprintf(complaint, sizeof complaint, "what is printed does not read: %s", quire_error_message(error).data);
        drop_error();
        return false;
    }
    const quire_string second = quire_predicate_text(again);
    const bool is_same = text.size == second.size && memcmp(text.data, second.data, text.size) == 0;
    if (!is_same) snprintf(complaint, sizeof complaint, "it reads back as %.900s", second.data);
    quire_predicate_release(again);
    return is_same;
}

outcome judge(const node *node, int entity, void (*tell)(int entity, const char *predicate)) {
    complaint[0] = 0;
    canonical[0] = 0;
    bool prints = true;
    for (int i = 0; i < STAGES; i++) {
        quire_predicate *predicate = parse(node, &stages[i]);
        if (!predicate) return complaint[0] ? DIFFERENT : SAME;
        if (i == SAVED) {
            snprintf(canonical, sizeof canonical, "%s", quire_predicate_text(predicate).data);
            tell(entity, canonical);
            prints = prints_the_same(predicate);
        }
        answers[2 * i] = by_fetch(&stages[i], entity, predicate);
        answers[2 * i + 1] = by_object(&stages[i], entity, predicate);
        quire_predicate_release(predicate);
    }
    return prints ? judge_answers(has_choice(node)) : DIFFERENT;
}

outcome accept(const node *node, int entity, void (*tell)(int entity, const char *predicate)) {
    complaint[0] = 0;
    for (int i = 0; i < STAGES; i++) {
        quire_predicate *predicate = parse(node, &stages[i]);
        if (!predicate) return complaint[0] ? DIFFERENT : SAME;
        snprintf(canonical, sizeof canonical, "%s", quire_predicate_text(predicate).data);
        tell(entity, canonical);
        answers[2 * i] = by_fetch(&stages[i], entity, predicate);
        answers[2 * i + 1] = by_object(&stages[i], entity, predicate);
        quire_predicate_release(predicate);
    }
    for (int i = 0; i < QUESTIONS; i++) {
        if (answers[i].status == QUIRE_OK || answers[i].status == QUIRE_INVALID_PREDICATE) continue;
        if (answers[i].status == QUIRE_UNSUPPORTED) return NOT_SUPPORTED;
        snprintf(complaint, sizeof complaint, "%s: %s", question_names[i], answers[i].message);
        return DIFFERENT;
    }
    return SAME;
}
