#include "roles/local_crds.hpp"

#include <string>
#include <vector>

#include "kube/paths.hpp"
#include "roles/manifests.hpp"

namespace plim::roles {

Task<Result<void>> install_crds(std::shared_ptr<kube::Client> client) {
  PLIM_CO_TRY(std::vector<json::value> definitions, manifests_of("crds", {}));
  kube::WriteOptions options;
  options.force = true;
  for (json::value& definition : definitions) {
    kube::ObjectPath path{
        .ns = {},
        .name = std::string(kube::text_at(definition, "CustomResourceDefinition.metadata.name"))};
    PLIM_CO_CHECK(co_await client->patch(kube::resources::custom_resource_definitions,
                                         std::move(path), kube::PatchType::apply,
                                         std::move(definition), options));
  }
  co_return Result<void>();
}

}  // namespace plim::roles
