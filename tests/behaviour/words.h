/* What driver.c needs that no library gives: bytes and their checksums, the words of a line, and
 * the words of an answer. */
#ifndef DATAFLUX_BEHAVIOUR_WORDS_H
#define DATAFLUX_BEHAVIOUR_WORDS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Bytes ---- */

static uint32_t crc32c(const unsigned char* data, uint64_t size) {
  static uint32_t table[256];
  uint32_t crc = 0xFFFFFFFFu;
  if (table[1] == 0) {
    for (uint32_t i = 0; i < 256; ++i) {
      table[i] = i;
      for (int bit = 0; bit < 8; ++bit) {
        table[i] = table[i] >> 1 ^ ((table[i] & 1) != 0 ? 0x82F63B78u : 0);
      }
    }
  }
  for (uint64_t i = 0; i < size; ++i) crc = table[(crc ^ data[i]) & 255] ^ crc >> 8;
  return crc ^ 0xFFFFFFFFu;
}

static void* memory_of(uint64_t size) {
  void* memory = malloc(size + 1);
  if (memory == NULL) abort();
  return memory;
}

static unsigned char* pattern(uint64_t size, uint64_t offset) {
  unsigned char* bytes = memory_of(size);
  for (uint64_t i = 0; i < size; ++i) bytes[i] = (unsigned char)((offset + i) % 251);
  return bytes;
}

/* ---- Words ---- */

/* Decodes a name in its place. */
static char* text(char* word) {
  char *from = word, *to = word;
  if (strcmp(word, "\"\"") == 0) return word + 2;
  while (*from != 0) {
    if (*from == '%') {
      const char digits[] = {from[1], from[2], 0};
      *to++ = (char)strtol(digits, NULL, 16);
      from += 3;
    } else {
      *to++ = *from++;
    }
  }
  *to = 0;
  return word;
}

/* Cuts off what is before the mark; NULL when nothing is left. */
static char* cut(char** rest, char mark) {
  char* word = *rest;
  char* end = word == NULL ? NULL : strchr(word, mark);
  if (end != NULL) *end++ = 0;
  *rest = end;
  return word;
}

static uint64_t number(const char* word) {
  return strcmp(word, "end") == 0 ? UINT64_MAX : strtoull(word, NULL, 10);
}

/* ---- Answers ---- */

static char answer[1 << 20];
static size_t said;

static void say(const char* words) {
  said += (size_t)snprintf(answer + said, sizeof answer - said, "%s", words);
  if (said >= sizeof answer) abort();
}
static void say_size(uint64_t size) {
  char words[32];
  snprintf(words, sizeof words, " %llu", (unsigned long long)size);
  say(words);
}
static void say_sum(uint64_t size, uint32_t sum) {
  char words[16];
  say_size(size);
  snprintf(words, sizeof words, " %08x", (unsigned)sum);
  say(words);
}
static void say_name(const char* name, size_t size) {
  char coded[4];
  say(" ");
  for (size_t i = 0; i < size; ++i) {
    const unsigned char c = (unsigned char)name[i];
    const int plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      (c != 0 && strchr("-._~/", c) != NULL);
    snprintf(coded, sizeof coded, plain ? "%c" : "%%%02X", c);
    say(coded);
  }
}

#endif
