#include <algorithm>

#include "base/log.hpp"
#include "sched/daemon.hpp"

namespace plim::sched {
namespace {

// How often one try asks, when what it was told about has changed until the answer was there.
constexpr int kMostRounds = 3;

std::vector<std::string> names_of(const Engine& engine, const std::vector<NodeIndex>& rows) {
  std::vector<std::string> out;
  for (const NodeIndex row : rows) out.push_back(engine.node_name(row));
  return out;
}

// Nodes and victims that have gone since the candidates were found.
void drop_what_has_gone(const Engine& engine, std::vector<PreemptionCandidate>& candidates) {
  std::erase_if(candidates, [&](const PreemptionCandidate& one) {
    return !engine.cluster().table().find(one.node);
  });
  for (PreemptionCandidate& candidate : candidates)
    std::erase_if(candidate.victims, [&](const PodPointer& victim) {
      return engine.cluster().find_pod(placement::pod_key(*victim)) == nullptr;
    });
}

}  // namespace

// Others are decided about while this one waits for answers. So nothing is kept over a wait but the
// names of nodes, and at the end the decision is made again, in one step with assuming it.
Task<void> Daemon::ask_and_schedule(Try current) {
  co_await ask_and_conclude(std::move(current));
  asking_ = false;
  wake_.notify();
}

Task<void> Daemon::ask_and_conclude(Try current) {
  const ExtenderRound::Extenders extenders = extenders_;
  bool skip_nominated = false;
  for (int round = 1;; ++round) {
    DecideOptions survey = decide_options(current);
    survey.only_filter = true;
    survey.skip_nominated = skip_nominated;
    Decision found = decide(current, survey);
    if (found.outcome == Decision::Outcome::unschedulable) {
      co_await ask_and_refuse(std::move(current), std::move(found), extenders);
      co_return;
    }
    if (found.outcome == Decision::Outcome::error) {
      conclude(current, found);
      co_return;
    }
    std::vector<std::string> nodes = names_of(state_.engine(), found.feasible_nodes);
    auto answers = co_await round_.ask(extenders, current.attempt.pod, std::move(nodes));
    if (!is_still_ours(current)) co_return;
    if (found.by_nomination && (!answers || answers->passed.empty())) {
      skip_nominated = true;
      continue;
    }
    if (!answers) {
      try_failed(current, answers.error().message);
      co_return;
    }
    DecideOptions options = decide_options(current);
    options.skip_nominated = skip_nominated;
    options.extenders = &*answers;
    Decision decision = decide(current, options);
    if (decision.outcome != Decision::Outcome::unschedulable) {
      conclude(current, decision);
      co_return;
    }
    if (decision.unasked > 0 && round < kMostRounds) continue;
    co_await ask_and_refuse(std::move(current), std::move(decision), extenders);
    co_return;
  }
}

Task<void> Daemon::ask_and_refuse(Try current, Decision decision,
                                  ExtenderRound::Extenders extenders) {
  PostFilterOutcome outcome = look_for_victims(current, decision);
  const bool may_be_spared = outcome.preemption && outcome.preemption->best;
  note(current, decision, may_be_spared ? nullptr : &outcome);
  if (may_be_spared) {
    auto left =
        co_await round_.spare(extenders, current.attempt.pod, outcome.preemption->candidates);
    if (!is_still_ours(current)) co_return;
    if (left) drop_what_has_gone(state_.engine(), *left);
    placement::limit_preemption(outcome, decision, std::move(left), clock_.wall());
  }
  refuse(current, decision, outcome);
}

// False: the pod has gone, has a node, or is somebody else's matter now; its try has been ended.
bool Daemon::is_still_ours(const Try& current) {
  const kube::ObjectMeta& meta = current.pod().meta;
  const PodPointer now = pods_.store().find(kube::object_key(meta));
  if (leading_ && now && now->meta.uid == meta.uid && now->spec.node_name.empty() &&
      !now->meta.deleted)
    return true;
  state_.queue().done(meta.uid);
  if (leading_ && now && now->meta.uid == meta.uid && now->meta.deleted)
    reports_.skipped(*now, current.scheduler());
  return false;
}

}  // namespace plim::sched
