// Asks the extenders about one pod: one after another to filter nodes, then all at once to score
// them. For preemption it asks which victims they accept.
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
// pods passed in; the caller handles what has changed meanwhile.
class ExtenderRound {
 public:
  using Extenders = std::shared_ptr<const ExtenderList>;

  ExtenderRound(const Executor& loop, ObjectTexts& texts);
  Task<void> stop();

  // Fails if an extender fails that is not ignorable.
  Task<Result<placement::ExtenderAnswers>> ask(Extenders extenders, PodPointer pod,
                                               std::vector<std::string> nodes);
  // The candidates that are left, with the victims that the extenders want.
  Task<Result<std::vector<PreemptionCandidate>>> spare(Extenders extenders, PodPointer pod,
                                                       std::vector<PreemptionCandidate> candidates);

 private:
  struct Gathered;  // the scores of extenders that are asked at once

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
