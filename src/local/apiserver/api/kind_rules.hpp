// What a kind that is added at run time brings along: its own schema, where built-in kinds have the
// one table.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "local/apiserver/api/selection.hpp"
#include "local/apiserver/schema/body_decode.hpp"
#include "local/apiserver/schema/validation.hpp"
#include "local/apiserver/table/object_table.hpp"

namespace plim::local::apiserver {

// Where an object keeps what its Scale shows; paths begin with a dot.
struct ScalePaths {
  std::string spec = ".spec.replicas";
  std::string status = ".status.replicas";
  std::string selector = {};  // "" for none
};

// Belongs to the server's loop; shared by requests under way, so it never changes.
class KindRules {
 public:
  virtual ~KindRules() = default;
  // As conform() of local/schema: prunes unknown fields and checks types.
  virtual Result<void> conform(json::value& object, FieldMistakes& mistakes) const = 0;
  virtual void apply_defaults(json::value& object) const = 0;
  virtual std::vector<Cause> validate(const json::value& object,
                                      const json::value* before) const = 0;

  // Beside metadata.name and metadata.namespace.
  virtual std::vector<SelectableField> selectable_fields() const { return {}; }

  // For server-side apply; null: nothing is known about lists. Lives as long as the rules.
  virtual const Type* apply_type() const { return nullptr; }

  virtual const ScalePaths& scale_paths() const = 0;

  // Null: Name and Created At. Lives as long as the rules.
  virtual const TableView* table() const { return nullptr; }
};

}  // namespace plim::local::apiserver
