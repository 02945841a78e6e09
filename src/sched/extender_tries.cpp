#include "sched/extender_tries.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace plim::sched {
namespace {

// How often one try asks again if nodes changed before the answers arrived.
constexpr int kMostRounds = 3;

std::vector<std::string> names_of(const Engine& engine, const std::vector<NodeIndex>& rows) {
  std::vector<std::string> out;
  for (const NodeIndex row : rows) out.push_back(engine.node_name(row));
  return out;
}

// Removes nodes and victims that are gone since the candidates were found.
void drop_what_has_gone(const Engine& engine, std::vector<PreemptionCandidate>& candidates) {
  std::erase_if(candidates, [&](const PreemptionCandidate& one) {
    return !engine.cluster().table().find(one.node);
  });
  for (PreemptionCandidate& candidate : candidates)
    std::erase_if(candidate.victims, [&](const PodPointer& victim) {
      return engine.cluster().pods().find(placement::pod_key(*victim)) == nullptr;
    });
}

}  // namespace

ExtenderTries::ExtenderTries(const Executor& loop, const TryContext& context, Decider& decider,
                             PodTries& tries, std::function<void()> on_end)
    : state_(context.state),
      extenders_(context.extenders),
      clock_(context.clock),
      decider_(decider),
      tries_(tries),
      on_end_(std::move(on_end)),
      round_(loop, context.extenders.texts()),
      tasks_(loop) {}

Task<void> ExtenderTries::stop() {
  co_await tasks_.stop();
  co_await round_.stop();
}

void ExtenderTries::start(PodTry current) {
  busy_ = true;
  tasks_.spawn("ask extenders", run(std::move(current)));
}

Task<void> ExtenderTries::run(PodTry current) {
  co_await ask(std::move(current));
  busy_ = false;
  on_end_();
}

Task<void> ExtenderTries::ask(PodTry current) {
  const ExtenderRound::Extenders extenders = extenders_.list();
  bool skip_nominated = false;
  for (int round = 1;; ++round) {
    DecideOptions survey = decider_.options_for(current);
    survey.only_filter = true;
    survey.skip_nominated = skip_nominated;
    Decision found = decider_.decide(current, survey);
    if (found.outcome == Decision::Outcome::unschedulable) {
      co_await refuse(std::move(current), std::move(found), extenders);
      co_return;
    }
    if (found.outcome == Decision::Outcome::error) {
      tries_.conclude(current, found);
      co_return;
    }
    std::vector<std::string> nodes = names_of(state_.engine(), found.feasible_nodes);
    auto answers = co_await round_.ask(extenders, current.attempt.pod, std::move(nodes));
    if (!tries_.is_still_ours(current)) co_return;
    if (found.by_nomination && (!answers || answers->passed.empty())) {
      skip_nominated = true;
      continue;
    }
    if (!answers) {
      tries_.fail(current, answers.error().message);
      co_return;
    }
    DecideOptions options = decider_.options_for(current);
    options.skip_nominated = skip_nominated;
    options.extenders = &*answers;
    Decision decision = decider_.decide(current, options);
    if (decision.outcome != Decision::Outcome::unschedulable) {
      tries_.conclude(current, decision);
      co_return;
    }
    if (decision.unasked > 0 && round < kMostRounds) continue;
    co_await refuse(std::move(current), std::move(decision), extenders);
    co_return;
  }
}

Task<void> ExtenderTries::refuse(PodTry current, Decision decision,
                                 ExtenderRound::Extenders extenders) {
  PostFilterOutcome outcome = decider_.look_for_victims(current, decision);
  const bool may_be_spared = outcome.preemption && outcome.preemption->best;
  decider_.report(current, decision, may_be_spared ? nullptr : &outcome);
  if (may_be_spared) {
    auto left =
        co_await round_.spare(extenders, current.attempt.pod, outcome.preemption->candidates);
    if (!tries_.is_still_ours(current)) co_return;
    if (left) drop_what_has_gone(state_.engine(), *left);
    placement::limit_preemption(outcome, decision, std::move(left), clock_.wall());
  }
  tries_.refuse(current, decision, outcome);
}

}  // namespace plim::sched
