// All controllers of the control plane, and which of them run.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "kube/client.hpp"
#include "local/controllers/controller.hpp"
#include "local/controllers/shared_informers.hpp"

namespace plim::local::controllers {

// The names that kube-controller-manager uses: "deployment-controller".
std::vector<std::string> controller_names();

// Parses --controllers: "all", "none", or names separated by commas, where "*" means all and
// "-job-controller" excludes one. Accepts the short names of old versions ("job") too.
Result<std::vector<std::string>> parse_controllers(std::string_view text);

struct ControllersOptions {
  std::vector<std::string> enabled = controller_names();
  // A node whose lease was not renewed for this long becomes not ready.
  std::chrono::milliseconds node_grace_period{50'000};
  // Published in a ConfigMap in every namespace; "" publishes nothing.
  std::string root_ca_pem = {};
};

// The controllers use only a client to see the cluster, in process or over the network. Belongs to
// one loop; co_await stop() before destroying it.
class Controllers {
 public:
  Controllers(Executor loop, std::shared_ptr<kube::Client> client, Clock& clock,
              ControllersOptions options = {});
  ~Controllers();
  Controllers(const Controllers&) = delete;
  Controllers& operator=(const Controllers&) = delete;

  // Returns at once; the controllers begin when their caches are complete.
  void start();
  Task<void> stop();

  // True if no key is queued or being handled; keys with a delay do not count.
  bool idle() const;

 private:
  Task<void> begin();

  SharedInformers informers_;
  std::vector<std::unique_ptr<Controller>> controllers_;
  bool begun_ = false;
  TaskGroup tasks_;
};

}  // namespace plim::local::controllers
