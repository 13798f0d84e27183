// Grammars whose scanners cannot write past their buffer, for scanners.rs.
//
// A scanner that a grammar brings along (indentation, heredocs) keeps its state in 1,024 bytes that the parser gives it. Some do not
// look where those end: a YAML file of 254 levels, or a Python file of 511 with an f-string in it, makes them write beyond, and the
// library ends the process when it sees that. Here the state is written into a larger buffer first.

#include <stddef.h>
#include <string.h>

#include "language.h"

// Grammars with a scanner; scanners.rs gives each a number below this.
#define SCANNERS 64

typedef unsigned (*Serialize)(void *, char *);

static Serialize originals[SCANNERS];
static TSLanguage languages[SCANNERS];

static unsigned bounded(Serialize original, void *payload, char *buffer) {
  // They stop at the first entry behind the end, so that more than one entry beyond is not to be feared.
  _Alignas(16) char state[8 * TREE_SITTER_SERIALIZATION_BUFFER_SIZE];
  unsigned length = original(payload, state);
  // As most scanners do it themselves: a state that has no room is none.
  if (length > TREE_SITTER_SERIALIZATION_BUFFER_SIZE) {
    return 0;
  }
  memcpy(buffer, state, length);
  return length;
}

// A function for each number: the parser does not say which grammar's it calls.
#define ONE(number) \
  static unsigned serialize_##number(void *payload, char *buffer) { \
    return bounded(originals[0##number], payload, buffer); \
  }
#define EIGHT(tens) \
  ONE(tens##0) ONE(tens##1) ONE(tens##2) ONE(tens##3) ONE(tens##4) ONE(tens##5) ONE(tens##6) ONE(tens##7)
#define NAMES(tens) \
  serialize_##tens##0, serialize_##tens##1, serialize_##tens##2, serialize_##tens##3, \
  serialize_##tens##4, serialize_##tens##5, serialize_##tens##6, serialize_##tens##7

// Octal digits, so that eight rows of eight are all of them.
EIGHT(0) EIGHT(1) EIGHT(2) EIGHT(3) EIGHT(4) EIGHT(5) EIGHT(6) EIGHT(7)

static const Serialize guards[SCANNERS] = {
  NAMES(0), NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6), NAMES(7),
};

// The same grammar with the guard of this number; itself where it has no scanner. Each number is used once.
const TSLanguage *lacon_syntax_guarded(const TSLanguage *language, uint32_t number) {
  if (!language->external_scanner.serialize || number >= SCANNERS) {
    return language;
  }
  // Older grammars end earlier.
  size_t size = sizeof(TSLanguage);
  if (language->abi_version < LANGUAGE_VERSION_WITH_RESERVED_WORDS) {
    size = offsetof(TSLanguage, name);
  }
  if (language->abi_version < LANGUAGE_VERSION_WITH_PRIMARY_STATES) {
    size = offsetof(TSLanguage, primary_state_ids);
  }
  memcpy(&languages[number], language, size);
  originals[number] = language->external_scanner.serialize;
  languages[number].external_scanner.serialize = guards[number];
  return &languages[number];
}
