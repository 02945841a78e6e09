// What every namespace has from the start: the ServiceAccount `default` and the ConfigMap with the
// certificate authority of the API.
#pragma once

#include <string>

#include "kube/informer.hpp"
#include "local/controllers/controller.hpp"

namespace plim::local::controllers {

// Keeps one object of a fixed name in each namespace; made anew when somebody deletes it.
class NamespaceDefault final : public Controller {
 public:
  // `wanted`: the object, without a namespace. Its `data`, if it has any, is kept as it is here.
  NamespaceDefault(const ControllerContext& context, ControllerIdentity identity,
                   kube::Resource kind, json::value wanted);

  void start() override;
  Task<void> stop() override;

 private:
  Task<Result<void>> reconcile(std::string ns) override;

  kube::Resource kind_;
  json::value wanted_;
  ObjectCache& namespaces_;
  kube::Informer<Object> present_;  // only those of that name
};

std::unique_ptr<Controller> make_service_account_controller(const ControllerContext& context);
std::unique_ptr<Controller> make_root_ca_publisher(const ControllerContext& context,
                                                   std::string_view certificate_pem);

}  // namespace plim::local::controllers
