// Deletes pods that no one else deletes: of deleted nodes, never placed, or too many ended ones.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "local/controllers/controller.hpp"

namespace plim::local::controllers {

struct PodGcInput {
  std::vector<PodPointer> pods;
  // When each missing node was first noticed.
  std::map<std::string, SteadyTime> missing_since;
  SteadyTime now;
};

struct PodGcPlan {
  struct Victim {
    PodPointer pod;
    std::string_view reason;  // for the condition, "" for pods that have ended
  };

  std::vector<Victim> remove;
};

inline constexpr std::size_t kMaxEndedPods = 12'500;
inline constexpr std::chrono::seconds kNodeQuarantine{40};

PodGcPlan plan_pod_gc(const PodGcInput& input, std::size_t max_ended = kMaxEndedPods);

// Has one key, handled every twenty seconds.
class PodGarbageCollector final : public Controller {
 public:
  explicit PodGarbageCollector(const ControllerContext& context);

  void start() override;

 private:
  Task<Result<void>> reconcile(std::string key) override;
  Task<Result<void>> remove(PodGcPlan::Victim victim);

  Cache<kube::Node>& nodes_;
  PodCache& pods_;
  std::map<std::string, SteadyTime> missing_since_;
};

}  // namespace plim::local::controllers
