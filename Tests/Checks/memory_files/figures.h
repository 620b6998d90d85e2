/* What SQLite takes on the VFS, beside ':memory:'. */
#ifndef QUIRE_FIGURES_H_
#define QUIRE_FIGURES_H_

/* Prints a line for each way to keep a database; the exit status. */
int print_figures(void);

#endif
