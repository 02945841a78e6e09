// Creates what every namespace has: the ServiceAccount `default` and the ConfigMap with the
// certificate authority of the API server.
#pragma once

#include <string>

#include "kube/informer.hpp"
#include "local/controllers/controller.hpp"

namespace plim::local::controllers {

// Keeps one object with a fixed name in each namespace; creates it again when it is deleted.
class NamespaceDefault final : public Controller {
 public:
  // `wanted`: the object, without a namespace. If it has `data`, changes of it are reverted.
  NamespaceDefault(const ControllerContext& context, ControllerIdentity identity,
                   kube::Resource kind, json::value wanted);

  void start() override;
  Task<void> stop() override;

 private:
  Task<Result<void>> reconcile(std::string ns) override;

  kube::Resource kind_;
  json::value wanted_;
  ObjectCache& namespaces_;
  kube::Informer<Object> present_;  // only objects of that name
};

std::unique_ptr<Controller> make_service_account_controller(const ControllerContext& context);
std::unique_ptr<Controller> make_root_ca_publisher(const ControllerContext& context,
                                                   std::string_view certificate_pem);

}  // namespace plim::local::controllers
