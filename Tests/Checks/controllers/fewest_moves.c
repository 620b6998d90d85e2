#include "fewest_moves.h"

#include <string.h>

/*
 * The heaviest run of ascending numbers, each with a weight, in the square of their number. A row that must stay weighs
 * more than all that may move together.
 */
enum { HEAVY = 1 << 16 };

static long heaviest_run(const int *numbers, const int *weights, int count) {
    static long best[SLOTS];
    long most = 0;
    for (int i = 0; i < count; i++) {
        best[i] = weights[i];
        for (int j = 0; j < i; j++)
            if (numbers[j] < numbers[i] && best[j] + weights[i] > best[i]) best[i] = best[j] + weights[i];
        if (best[i] > most) most = best[i];
    }
    return most;
}

int fewest_moves(const sections *old, const sections *new, const int *matching, const bool *is_free) {
    static int old_places[SLOTS], old_sections[SLOTS], numbers[SLOTS], weights[SLOTS];
    memset(old_places, -1, sizeof old_places);
    for (int section = 0, place = 0; section < old->count; section++) {
        for (int row = 0; row < old->sizes[section]; row++, place++) {
            old_places[old->slots[place]] = place;
            old_sections[old->slots[place]] = section;
        }
    }
    int common = 0, kept = 0, bound = 0, bound_kept = 0;
    for (int section = 0, place = 0; section < new->count; section++) {
        int count = 0;
        for (int row = 0; row < new->sizes[section]; row++, place++) {
            const int slot = new->slots[place];
            if (old_places[slot] < 0) continue;
            common++;
            bound += !is_free[slot];
            if (matching[section] != old_sections[slot]) continue;
            numbers[count] = old_places[slot];
            weights[count++] = is_free[slot] ? 1 : HEAVY;
        }
        const long run = heaviest_run(numbers, weights, count);
        bound_kept += (int)(run / HEAVY);
        kept += (int)(run / HEAVY + run % HEAVY);
    }
    return bound_kept == bound ? common - kept : -1;
}
