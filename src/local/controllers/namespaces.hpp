// Deletes the contents of namespaces that are being deleted, then removes their finalizer.
#pragma once

#include <map>
#include <string>

#include "local/controllers/controller.hpp"
#include "local/controllers/namespace_content.hpp"
#include "local/controllers/served_kinds.hpp"

namespace plim::local::controllers {

class NamespaceController final : public Controller {
 public:
  explicit NamespaceController(const ControllerContext& context);

 private:
  Task<Result<void>> reconcile(std::string name) override;
  Task<NamespaceContent> empty(std::string name);
  // Deletes all objects of the kind and counts those that still exist.
  Task<Result<void>> clear(ServedKind kind, std::string ns,
                           std::shared_ptr<NamespaceContent> content);
  Task<Result<void>> finalize(json::value object);

  ObjectCache& namespaces_;
  std::map<std::string, int> rounds_;  // attempts so far, for namespaces that are not empty yet
};

}  // namespace plim::local::controllers
