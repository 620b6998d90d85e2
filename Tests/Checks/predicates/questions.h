/* Asks the stages of a world about a predicate, and compares what they say. */
#ifndef QUIRE_QUESTIONS_H_
#define QUIRE_QUESTIONS_H_

#include "grammar.h"

/* What a predicate comes to: which slots it holds for, or how it fails. */
typedef struct answer {
    quire_status status;
    bool holds[SLOTS];
    char message[400];
    /* There was no object to ask. */
    bool is_vacuous;
} answer;

/* HALF_AN_ERROR: some fail and some do not, which they may where not every part has to be evaluated. */
typedef enum outcome { SAME, DIFFERENT, NOT_SUPPORTED, HALF_AN_ERROR, FAILED } outcome;

/* Of each stage by fetch, where SQL answers for saved rows, and by object, where memory does. */
enum { QUESTIONS = 2 * STAGES };
extern const char *const question_names[QUESTIONS];
extern const char *const stage_names[STAGES];

extern world rows;
extern stage stages[STAGES];
extern stage earlier;
/* Of the predicate that was last judged. */
extern answer answers[QUESTIONS];
extern char canonical[MOST_TEXT];
/* What was last found to differ. */
extern char complaint[1024];

void open_stages(void);
void close_stages(void);

/* `tell` is called before anything is asked that might end the process. */
outcome judge(const node *node, int entity, void (*tell)(int entity, const char *predicate));

/* Only that everything takes it, for what gives another answer each time. */
outcome accept(const node *node, int entity, void (*tell)(int entity, const char *predicate));

/* NULL, with a complaint, when it cannot be read. */
quire_predicate *parse(const node *node, const stage *stage);
quire_fetch_request *new_request(int entity, quire_predicate *predicate);

/* Fetches, and writes the slots in order. -1 for one that is no row. */
quire_status fetch(const stage *stage, const quire_fetch_request *request, int *out_slots, int *out_count);

/* The slot of a row of `entity` in the earlier stage; -1 when there is none. */
int slot_of_id(int64_t id, int entity);

/* Forgets the last error. */
void drop_error(void);

#endif
