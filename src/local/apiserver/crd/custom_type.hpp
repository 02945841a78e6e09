// The schema of a custom resource in the form that server-side apply uses: which lists have keys.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "local/apiserver/crd/custom_schema.hpp"
#include "local/apiserver/schema/schema.hpp"

namespace plim::local::apiserver {

// Owns the types, which point to each other: it must not be moved.
class CustomType {
 public:
  explicit CustomType(const CustomSchema& schema) : root_(type_of(schema)) {}

  CustomType(const CustomType&) = delete;
  CustomType& operator=(const CustomType&) = delete;

  // Null if the schema keeps unknown fields, so that nothing is known about lists.
  const Type* root() const { return root_; }

 private:
  const Type* type_of(const CustomSchema& schema);
  Field field_of(std::string_view name, const CustomSchema& schema);
  // Sets `field` from the schema of a single value.
  void describe_one(const CustomSchema& schema, Field& field);
  std::string_view keep(std::string text);

  std::deque<Type> types_;
  std::deque<std::vector<Field>> fields_;
  std::deque<std::string> texts_;
  const Type* root_;
};

}  // namespace plim::local::apiserver
