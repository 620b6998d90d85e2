/* Statements by chance. */
#ifndef QUIRE_STATEMENTS_H_
#define QUIRE_STATEMENTS_H_

#include "places.h"

typedef struct statement {
    char sql[400];
    argument arguments[MOST_ARGUMENTS];
    /* What it gives depends on more than the database, but for its code. */
    bool is_about_place;
} statement;

/* Tables and what is needed for them. */
extern const char schema[];

/* Reads or writes rows. */
statement reading_statement(void);
statement writing_statement(void);
/* Begins, ends or divides a transaction. */
statement transaction_statement(void);
/* Folds a log, or rearranges the database. */
statement tending_statement(void);
/* Sets something of the connection or the database. */
statement setting_statement(void);

#endif
