// Validates CustomResourceDefinitions and derives the kinds that they define.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "local/apiserver/api/kinds.hpp"
#include "local/apiserver/schema/validation.hpp"

namespace plim::local::apiserver {

struct DefinitionCheck {
  std::vector<Cause> causes = {};
  std::vector<std::string> warnings = {};  // about rules that are stored but have no effect here
};

// `before` is null for creations.
DefinitionCheck check_definition(const json::value& definition, const json::value* before);

// Sets names that follow from others, the conversion and the finalizer, which deletes the custom
// objects before their kind.
void complete_definition(json::value& definition);

// One kind for each served version, in the order of discovery: v2, v1, v1beta2, v1alpha1.
std::vector<Kind> kinds_of(const json::value& definition);

}  // namespace plim::local::apiserver
