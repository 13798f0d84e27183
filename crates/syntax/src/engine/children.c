// The children of a node in one go, for children.rs.
//
// A tree cursor finds the same children, but finds its place anew at every step: the production of the parent, what it shows and
// renames, where the child begins. Here all that is looked up once per parent. The structures are those of the library itself,
// whose headers this file is compiled with, so that a change of their layout cannot go unnoticed.

#include "language.h"
#include "subtree.h"
#include "tree.h"

// As `Child` in children.rs.
typedef struct {
  TSNode node;
  TSSymbol kind;
  TSFieldId field;
  bool named;
} Child;

// How many hidden nodes deep a child may lie. Balanced repetitions and wrappers stay far below.
#define LEVELS 48

// A node whose children are being listed: the one that was asked for, or a hidden one inside it.
typedef struct {
  const Subtree *next;
  const Subtree *end;
  // Names that the production gives to its children, or NULL; by `structural`.
  const TSSymbol *aliases;
  const TSFieldMapEntry *fields;
  const TSFieldMapEntry *fields_end;
  // Number of the next child among those that are no extras.
  uint32_t structural;
  // The field of this node itself, if it is hidden: its children are in it as well.
  TSFieldId field;
} Level;

static inline Level level_of(Subtree parent, const TSLanguage *language, TSFieldId field, bool with_fields) {
  const Subtree *children = ts_subtree_children(parent);
  Level level = {
    .next = children,
    .end = children + parent.ptr->child_count,
    .aliases = ts_language_alias_sequence(language, parent.ptr->production_id),
    .field = field,
  };
  if (with_fields) {
    ts_language_field_map(language, parent.ptr->production_id, &level.fields, &level.fields_end);
  }
  return level;
}

// Writes the visible children of `node` to `children` and returns how many there are. Where that is more than there is `room` for,
// nothing useful is written. UINT32_MAX says that they lie too deep. `named` has an entry for each of the first `kinds` kinds;
// further ones are named. Fields are told if `with_fields`.
uint32_t lacon_syntax_children(
  TSNode node,
  bool with_fields,
  const bool *named,
  uint32_t kinds,
  Child *children,
  uint32_t room
) {
  const Subtree parent = *(const Subtree *)node.id;
  const uint32_t count = ts_subtree_visible_child_count(parent);
  if (count == 0 || count > room) return count;

  const TSLanguage *language = node.tree->language;
  Length position = {node.context[0], {node.context[1], node.context[2]}};
  Level levels[LEVELS];
  Level *level = levels;
  *level = level_of(parent, language, 0, with_fields);
  uint32_t found = 0;
  // The first child of a node begins where the node does.
  bool first = true;
  for (;;) {
    if (level->next == level->end) {
      if (level == levels) return found;
      level--;
      continue;
    }
    const Subtree *const at = level->next++;
    const Subtree child = *at;
    if (!first) position = length_add(position, ts_subtree_padding(child));
    first = false;

    TSSymbol alias = 0;
    TSFieldId field = 0;
    if (!ts_subtree_extra(child)) {
      if (level->aliases) alias = level->aliases[level->structural];
      field = level->field;
      for (const TSFieldMapEntry *entry = level->fields; entry < level->fields_end; entry++) {
        if (!entry->inherited && entry->child_index == level->structural) {
          field = entry->field_id;
          break;
        }
      }
      level->structural++;
    }

    if (alias || ts_subtree_visible(child)) {
      if (found == room) return UINT32_MAX;
      const TSSymbol symbol = alias ? alias : ts_subtree_symbol(child);
      const TSSymbol kind = symbol == ts_builtin_sym_error ? symbol : language->public_symbol_map[symbol];
      children[found++] = (Child) {
        .node = {
          .context = {position.bytes, position.extent.row, position.extent.column, alias},
          .id = at,
          .tree = node.tree,
        },
        .kind = kind,
        .field = field,
        .named = kind >= kinds || named[kind],
      };
    } else if (ts_subtree_visible_child_count(child) > 0) {
      if (level == levels + LEVELS - 1) return UINT32_MAX;
      *++level = level_of(child, language, field, with_fields);
      first = true;
      continue;
    }
    position = length_add(position, ts_subtree_size(child));
  }
}
