// The rules of a kind that was added at run time, with its own schema. Built-in kinds use schema
// tables.
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

// Where an object has the fields of its Scale; paths begin with a dot.
struct ScalePaths {
  std::string spec = ".spec.replicas";
  std::string status = ".status.replicas";
  std::string selector = {};  // "" for none
};

// Belongs to the server's loop. Immutable, since requests under way share it.
class KindRules {
 public:
  virtual ~KindRules() = default;
  // Like conform() of apiserver/schema: prunes unknown fields and checks types.
  virtual Result<void> conform(json::value& object, FieldMistakes& mistakes) const = 0;
  virtual void apply_defaults(json::value& object) const = 0;
  virtual std::vector<Cause> validate(const json::value& object,
                                      const json::value* before) const = 0;

  // In addition to metadata.name and metadata.namespace.
  virtual std::vector<SelectableField> selectable_fields() const { return {}; }

  // For server-side apply; null if the lists have no merge keys. Lives as long as the rules.
  virtual const Type* apply_type() const { return nullptr; }

  virtual const ScalePaths& scale_paths() const = 0;

  // Null: the columns Name and Created At. Lives as long as the rules.
  virtual const TableView* table() const { return nullptr; }
};

}  // namespace plim::local::apiserver
