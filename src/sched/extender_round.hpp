// Asks the extenders about one pod: all in their order which nodes will do, then all at once which
// are better; and whom they would spare where others have to leave.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/event.hpp"
#include "base/result.hpp"
#include "base/task.hpp"
#include "sched/extender.hpp"
#include "sched/object_texts.hpp"
#include "sched/vocabulary.hpp"

namespace plim::sched {

// Belongs to one loop; co_await stop() before destroying it. The answers are about the nodes and
// pods that were handed in; what has changed meanwhile is the caller's matter.
class ExtenderRound {
 public:
  using Extenders = std::shared_ptr<const ExtenderList>;

  ExtenderRound(const Executor& loop, ObjectTexts& texts);
  Task<void> stop();

  // The error of an extender that must not fail.
  Task<Result<placement::ExtenderAnswers>> ask(Extenders extenders, PodPointer pod,
                                               std::vector<std::string> nodes);
  // The candidates that are left, with the victims that the extenders want.
  Task<Result<std::vector<PreemptionCandidate>>> spare(Extenders extenders, PodPointer pod,
                                                       std::vector<PreemptionCandidate> candidates);

 private:
  struct Gathered;  // by extenders that are asked at once

  Task<Result<std::string>> arguments(std::shared_ptr<const Extender> extender, std::string pod,
                                      std::vector<std::string> nodes);
  Task<Result<ExtenderFilterAnswer>> filter(std::shared_ptr<const Extender> extender,
                                            std::string pod, std::vector<std::string> nodes);
  Task<void> prioritize(std::shared_ptr<const Extender> extender, std::string pod,
                        std::vector<std::string> nodes, std::shared_ptr<Gathered> gathered);
  Task<Result<std::vector<PreemptionCandidate>>> spare_by(
      std::shared_ptr<const Extender> extender, std::string pod,
      std::vector<PreemptionCandidate> candidates);

  ObjectTexts& texts_;
  Event answered_;
  TaskGroup tasks_;
};

}  // namespace plim::sched
