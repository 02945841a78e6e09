// CustomResourceDefinitions: what is demanded of them, and the kinds they describe.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"
#include "local/apiserver/api/kinds.hpp"
#include "local/apiserver/schema/validation.hpp"

namespace plim::local::apiserver {

struct DefinitionCheck {
  std::vector<Cause> causes = {};
  std::vector<std::string> warnings = {};  // of what is stored but has no effect here
};

// `before`: null on creates.
DefinitionCheck check_definition(const json::value& definition, const json::value* before);

// Names that follow from others, the conversion and, so that custom objects do not outlive their
// kind, the finalizer.
void complete_definition(json::value& definition);

// One for each version that is served, in the order of discovery: v2, v1, v1beta2, v1alpha1.
std::vector<Kind> kinds_of(const json::value& definition);

}  // namespace plim::local::apiserver
