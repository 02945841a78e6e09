#include "local/apiserver/schema/testing/checked.hpp"

#include "local/apiserver/schema/body_decode.hpp"
#include "local/apiserver/schema/defaults.hpp"
#include "local/apiserver/schema/validation.hpp"

namespace plim::local::apiserver::testing {
namespace {

std::vector<std::string> texts(const std::vector<Cause>& causes) {
  std::vector<std::string> out;
  for (const Cause& cause : causes) out.push_back(cause.field + ": " + cause.message);
  return out;
}

}  // namespace

json::value completed(std::string_view group, std::string_view kind, std::string_view text) {
  const Type* type = find_type(group, "v1", kind);
  PLIM_ASSERT(type != nullptr);
  FieldMistakes mistakes;
  auto body = parse_body(text, mistakes);
  PLIM_ASSERT(body.has_value());
  PLIM_ASSERT(conform(*type, *body, mistakes).has_value());
  PLIM_ASSERT(mistakes.empty());
  apply_defaults(group, kind, *type, *body);
  return std::move(*body);
}

std::vector<std::string> faults(std::string_view group, std::string_view kind,
                                std::string_view text) {
  return texts(validate(group, kind, completed(group, kind, text), nullptr));
}

std::vector<std::string> faults_of_update(std::string_view group, std::string_view kind,
                                          std::string_view before, std::string_view after) {
  json::value old = completed(group, kind, before);
  return texts(validate(group, kind, completed(group, kind, after), &old));
}

}  // namespace plim::local::apiserver::testing
