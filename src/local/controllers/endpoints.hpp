// Writes Endpoints and EndpointSlices with the pods of each Service.
#pragma once

#include <string>

#include "local/controllers/controller.hpp"
#include "local/controllers/expectations.hpp"
#include "local/controllers/pod_groups.hpp"

namespace plim::local::controllers {

// Follows Services with a selector and the pods that they select.
class ServiceController : public Controller {
 public:
  ServiceController(const ControllerContext& context, ControllerIdentity identity);

 protected:
  // Null for services without a selector: their addresses are written by others.
  ObjectPointer selecting_service(const std::string& key) const;

  ObjectCache& services_;
  PodGroups groups_;

 private:
  void service_changed(const ObjectPointer& service);
  void pods_changed(const std::string& key);
};

class EndpointsController final : public ServiceController {
 public:
  explicit EndpointsController(const ControllerContext& context);

 private:
  Task<Result<void>> reconcile(std::string key) override;

  ObjectCache& endpoints_;
};

class EndpointSliceController final : public ServiceController {
 public:
  explicit EndpointSliceController(const ControllerContext& context);

 private:
  Task<Result<void>> reconcile(std::string key) override;

  ObjectCache& slices_;
  Expectations expectations_;
};

}  // namespace plim::local::controllers
