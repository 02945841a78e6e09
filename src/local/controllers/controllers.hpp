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

// In the spelling of kube-controller-manager: "deployment-controller".
std::vector<std::string> controller_names();

// What --controllers takes: "all", "none", or names separated by commas, where "*" stands for all
// and "-job-controller" takes one out. The short names of old versions ("job") are known too.
Result<std::vector<std::string>> parse_controllers(std::string_view text);

struct ControllersOptions {
  std::vector<std::string> enabled = controller_names();
  // A node that has not renewed its lease for so long is not ready any more.
  std::chrono::milliseconds node_grace_period{50'000};
  // Published in every namespace; "" publishes nothing.
  std::string root_ca_pem = {};
};

// They see the cluster through a client only, in process or over the network. Belongs to one loop;
// co_await stop() before destroying it.
class Controllers {
 public:
  Controllers(Executor loop, std::shared_ptr<kube::Client> client, Clock& clock,
              ControllersOptions options = {});
  ~Controllers();
  Controllers(const Controllers&) = delete;
  Controllers& operator=(const Controllers&) = delete;

  // Returns at once; the work begins when the caches are complete.
  void start();
  Task<void> stop();

  // Nothing is queued or under way; what waits for a time does not count.
  bool idle() const;

 private:
  Task<void> begin();

  SharedInformers informers_;
  std::vector<std::unique_ptr<Controller>> controllers_;
  bool begun_ = false;
  TaskGroup tasks_;
};

}  // namespace plim::local::controllers
