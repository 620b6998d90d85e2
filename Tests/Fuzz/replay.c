/* Gives the files of folders to a fuzzed target, where there is no fuzzer: replay FOLDER... */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int replay_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return perror(path), -1;
    /* libFuzzer's greatest length, unless told otherwise. */
    static uint8_t bytes[4096];
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    /* A block of the exact size, so that reading beyond the input shows. */
    uint8_t *input = malloc(size ? size : 1);
    if (!input) return perror("malloc"), -1;
    memcpy(input, bytes, size);
    /* Told before, because a fault ends the process. */
    fprintf(stderr, "%s\n", path);
    LLVMFuzzerTestOneInput(input, size);
    free(input);
    return 0;
}

int main(int argument_count, char **arguments) {
    int count = 0;
    for (int i = 1; i < argument_count; i++) {
        DIR *folder = opendir(arguments[i]);
        if (!folder) return perror(arguments[i]), 2;
        for (struct dirent *entry; (entry = readdir(folder));) {
            if (entry->d_name[0] == '.') continue;
            char path[4096];
            if (snprintf(path, sizeof path, "%s/%s", arguments[i], entry->d_name) >= (int)sizeof path) {
                fprintf(stderr, "%s: %s\n", arguments[i], strerror(ENAMETOOLONG));
                return 2;
            }
            if (replay_file(path)) return 2;
            count++;
        }
        closedir(folder);
    }
    printf("%d inputs, no fault\n", count);
    return count ? 0 : 2;
}
