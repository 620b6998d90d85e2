/* Lists as answers, and the list of a program without Quire: what it shows, read anew, and the difference. */
#include "bench.h"

uint32_t checksum(uint32_t sum, int64_t number) {
    return sum * 31 + (uint32_t)number;
}

told told_of(quire_results *results) {
    told told = {quire_results_count(results), quire_results_section_count(results), 0, 0};
    int64_t *ids = malloc(sizeof *ids * (size_t)(told.ids + 1));
    CHECK(ids);
    OK(quire_results_ids(results, 0, told.ids, ids, &error));
    for (int64_t i = 0; i < told.ids; i++) told.id_sum = checksum(told.id_sum, ids[i]);
    free(ids);
    for (int64_t i = 0; i < told.sections; i++) {
        quire_section section = QUIRE_SECTION_INIT;
        OK(quire_results_section(results, i, &section, &error));
        told.section_sum = checksum(told.section_sum, section.count);
    }
    return told;
}

told told_by_query(sqlite3 *database) {
    told told = {0, 0, 0, 0};
    sqlite3_stmt *statement = prepare(database, "SELECT Z_PK FROM ZQUOTE ORDER BY ZAUTHOR, Z_PK");
    for (; sqlite3_step(statement) == SQLITE_ROW; told.ids++) told.id_sum = checksum(told.id_sum, sqlite3_column_int64(statement, 0));
    sqlite3_finalize(statement);
    statement = prepare(database, "SELECT count(*) FROM ZQUOTE GROUP BY ZAUTHOR ORDER BY ZAUTHOR");
    for (; sqlite3_step(statement) == SQLITE_ROW; told.sections++)
        told.section_sum = checksum(told.section_sum, sqlite3_column_int64(statement, 0));
    sqlite3_finalize(statement);
    return told;
}

void answer_list(told told) {
    answer("%lld ids %u in %lld sections %u", (long long)told.ids, told.id_sum, (long long)told.sections, told.section_sum);
}
