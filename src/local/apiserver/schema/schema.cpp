#include "local/apiserver/schema/schema.hpp"

#include "local/apiserver/schema/types/type_tables.hpp"

namespace plim::local::apiserver {

const Field* Type::find(std::string_view field) const {
  for (const Field& candidate : fields)
    if (candidate.name == field) return &candidate;
  return nullptr;
}

const Type* find_type(std::string_view group, std::string_view version, std::string_view kind) {
  if (kind == "DeleteOptions") return &kDeleteOptions;
  for (const KindType& candidate : kKindTypes)
    if (candidate.kind == kind && candidate.group == group && candidate.version == version)
      return candidate.type;
  return nullptr;
}

const Type& object_meta_type() {
  return kObjectMeta;
}

}  // namespace plim::local::apiserver
