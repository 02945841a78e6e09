#include "local/apiserver/crd/custom_type.hpp"

#include <fmt/ranges.h>

namespace plim::local::apiserver {

const Type* CustomType::type_of(const CustomSchema& schema) {
  if (schema.keeps_unknown || schema.embedded || schema.properties.empty()) return nullptr;
  std::vector<Field>& fields = fields_.emplace_back();
  for (const auto& [name, property] : schema.properties)
    fields.push_back(field_of(name, *property));
  return &types_.emplace_back(Type{.name = "", .fields = fields});
}

Field CustomType::field_of(std::string_view name, const CustomSchema& schema) {
  Field out{.name = keep(std::string(name))};
  if (schema.type == "array" && schema.items) {
    out.shape = Shape::list;
    describe_one(*schema.items, out);
    if (schema.list_type == "set") out.list = ListKind::set;
    if (schema.list_type == "map") {
      out.list = ListKind::map;
      out.list_keys = keep(fmt::format("{}", fmt::join(schema.list_keys, ",")));
    }
  } else if (schema.values) {
    out.shape = Shape::map;
    describe_one(*schema.values, out);
  } else {
    describe_one(schema, out);
  }
  return out;
}

void CustomType::describe_one(const CustomSchema& schema, Field& field) {
  if (schema.fallback) field.fallback = keep(to_json(*schema.fallback));
  if (schema.type != "object") return;
  field.scalar = Scalar::object;
  field.type = type_of(schema);
}

std::string_view CustomType::keep(std::string text) {
  return texts_.emplace_back(std::move(text));
}

}  // namespace plim::local::apiserver
