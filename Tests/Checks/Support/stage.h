/*
 * A store of authors and books, and a history of steps on it that is played with or without faults: what the checks
 * `faults` and `powerloss` have in common. Each play is in a process of its own.
 */
#ifndef QUIRE_STAGE_H_
#define QUIRE_STAGE_H_

#include "dice.h"
#include "system_calls.h"

#include <quire.h>

#include <stdatomic.h>

enum { STATES = 8, STATE_SIZE = 6000, STEPS = 8 };

/* What a process tells the one that started it. */
typedef struct report {
    /* The commits that were confirmed; whether one more was under way; the journal's length behind each. */
    atomic_int committed, is_committing;
    int saved_at[STATES];
    int calls;
    /* What the store holds behind each commit, as text. */
    int states;
    char state[STATES][STATE_SIZE];
    /* What the step that failed said, and which step that was. */
    char said[600], step[40];
    char sentence[3000];
} report;

extern report *told;
extern quire_error *error;

typedef struct stage {
    char folder[300], path[340], copy_path[340];
    /* A new file is an XML store. One that is there is known by what it holds. */
    bool is_relaxed, is_xml;
    quire_model *model;
    quire_store *store;
    quire_context *context;
    /* Of a context and its lists, the first is there in most scenarios, the others where a step makes them. */
    quire_context *other;
    quire_results *list, *cached;
} stage;

typedef enum step_kind {
    STEP_READS,
    /* A commit of what is pending; and one of what the step writes itself. */
    STEP_SAVES,
    STEP_WRITES,
    /* What its preparation has committed is taken over. */
    STEP_MERGES,
    /* It is not tried again: the store is closed all the same. */
    STEP_CLOSES
} step_kind;

typedef struct step {
    step_kind kind;
    const char *name;
    /* What comes before, without faults, or NULL. */
    void (*prepare)(stage *stage);
    quire_status (*run)(stage *stage);
} step;

typedef struct scenario {
    const char *name;
    /* What the folder has before; NULL for nothing. */
    void (*furnish)(stage *stage);
    void (*begin)(stage *stage);
    step steps[STEPS];
    /* What is to hold at the end, whether or not the process was ended in the midst of it; or NULL. */
    void (*judge)(stage *stage, bool was_ended);
    /* There is no store afterwards. */
    bool deletes;
} scenario;

/* The scenarios, ended by one without a name. */
extern const scenario scenarios[];

/* Ends the process with a sentence about what is wrong. */
void differ(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#define OK(call) succeed((call), #call)
void succeed(quire_status status, const char *call);

/* Sets the paths. The model is made with the first store. */
void set_stage(stage *stage, const char *folder, bool is_relaxed);
quire_status open_store(stage *stage);
/* Opens the store and makes a context with a list of all books. */
void open_stage(stage *stage);
quire_status make_list(stage *stage, const char *cache_name, quire_results **out_list);
void close_stage(stage *stage);

/* What the store holds, as text. Text indexes and derived attributes must agree with it. */
void read_state(quire_context *context, bool has_pending, char *out);
/* The same through a new context. */
void read_stored_state(stage *stage, char *out);

/* Makes four authors and twelve books; a book; and finds a book. */
void furnish_library(stage *stage);
quire_object *insert_book(stage *stage, const char *title, int pages, int image, const char *author);
quire_object *find_book(stage *stage, const char *title);
void set_image(quire_object *book, int image);
void set_pages(quire_object *book, int pages);

/* Fetches anew what a list shows, and compares. */
void check_list(stage *stage, quire_results *list);

#endif
