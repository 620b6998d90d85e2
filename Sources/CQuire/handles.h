/* The public header as Swift sees it: each handle completed, so that handles of different types are different types. */
#ifndef QUIRE_HANDLES_H_
#define QUIRE_HANDLES_H_

#include <quire.h>

struct quire_error { char opaque; };
struct quire_model { char opaque; };
struct quire_store { char opaque; };
struct quire_context { char opaque; };
struct quire_moment { char opaque; };
struct quire_object { char opaque; };
struct quire_conflict { char opaque; };
struct quire_predicate { char opaque; };
struct quire_expression { char opaque; };
struct quire_evaluation { char opaque; };
struct quire_fetch_request { char opaque; };
struct quire_list { char opaque; };
struct quire_page { char opaque; };
struct quire_results { char opaque; };
struct quire_changes { char opaque; };
struct quire_snapshot { char opaque; };
struct quire_composite { char opaque; };
struct quire_section_rule { char opaque; };
struct quire_cancellation { char opaque; };
struct quire_migration { char opaque; };
struct quire_history { char opaque; };

#endif
