#include "sched/extender_round.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"
#include "kube/store.hpp"

namespace plim::sched {

struct ExtenderRound::Gathered {
  std::size_t under_way = 0;
  std::vector<placement::ExtenderScores> scores;
};

ExtenderRound::ExtenderRound(const Executor& loop, ObjectTexts& texts)
    : texts_(texts), answered_(loop), tasks_(loop) {}

Task<void> ExtenderRound::stop() {
  co_await tasks_.stop();
}

Task<Result<std::string>> ExtenderRound::arguments(std::shared_ptr<const Extender> extender,
                                                   std::string pod,
                                                   std::vector<std::string> nodes) {
  if (extender->config().node_cache_capable) co_return extender_args_by_name(pod, nodes);
  PLIM_CO_TRY(const std::vector<std::string> objects, co_await texts_.nodes(std::move(nodes)));
  co_return extender_args_by_object(pod, objects);
}

Task<Result<ExtenderFilterAnswer>> ExtenderRound::filter(std::shared_ptr<const Extender> extender,
                                                         std::string pod,
                                                         std::vector<std::string> nodes) {
  PLIM_CO_TRY(std::string body, co_await arguments(extender, std::move(pod), nodes));
  co_return co_await extender->filter(std::move(body), std::move(nodes));
}

Task<void> ExtenderRound::prioritize(std::shared_ptr<const Extender> extender, std::string pod,
                                     std::vector<std::string> nodes,
                                     std::shared_ptr<Gathered> gathered) {
  auto body = co_await arguments(extender, std::move(pod), std::move(nodes));
  Result<Extender::Scores> scores;
  if (body)
    scores = co_await extender->prioritize(std::move(*body));
  else
    scores = body.error();
  if (scores)
    gathered->scores.push_back({.extender = extender->name(),
                                .weight = extender->config().weight,
                                .nodes = std::move(*scores)});
  else
    log::warn("scheduler", "an extender's scores are missing", {{"error", scores.error()}});
  --gathered->under_way;
  answered_.notify();
}

Task<Result<placement::ExtenderAnswers>> ExtenderRound::ask(Extenders extenders, PodPointer pod,
                                                            std::vector<std::string> nodes) {
  PLIM_CO_TRY(const std::string text, co_await texts_.pod(pod));
  placement::ExtenderAnswers out;
  for (const auto& extender : *extenders) {
    if (nodes.empty()) break;
    if (extender->config().filter_verb.empty() || !extender->is_interested(*pod)) continue;
    auto answer = co_await filter(extender, text, nodes);
    if (!answer) {
      if (!extender->config().ignorable) co_return answer.error();
      log::warn("scheduler", "goes on without an extender",
                {{"pod", kube::object_key(pod->meta)}, {"error", answer.error()}});
      continue;
    }
    nodes = std::move(answer->passed);
    std::ranges::move(answer->rejections, std::back_inserter(out.rejections));
  }
  auto gathered = std::make_shared<Gathered>();
  if (nodes.size() > 1)
    for (const auto& extender : *extenders) {
      if (extender->config().prioritize_verb.empty() || !extender->is_interested(*pod)) continue;
      ++gathered->under_way;
      tasks_.spawn("ask for scores", prioritize(extender, text, nodes, gathered));
    }
  while (gathered->under_way > 0) co_await answered_.wait();
  out.scores = std::move(gathered->scores);
  std::ranges::sort(out.scores, {}, &placement::ExtenderScores::extender);
  std::ranges::sort(nodes);
  out.passed = std::move(nodes);
  co_return out;
}

Task<Result<std::vector<PreemptionCandidate>>> ExtenderRound::spare_by(
    std::shared_ptr<const Extender> extender, std::string pod,
    std::vector<PreemptionCandidate> candidates) {
  const bool by_uid = extender->config().node_cache_capable;
  std::vector<ExtenderVictims> victims;
  for (const PreemptionCandidate& candidate : candidates) {
    ExtenderVictims one{
        .node = candidate.node, .pods = {}, .budget_violations = candidate.budget_violations};
    for (const PodPointer& victim : candidate.victims) {
      if (by_uid) {
        one.pods.push_back(victim->meta.uid);
        continue;
      }
      PLIM_CO_TRY(one.pods.emplace_back(), co_await texts_.pod(victim));
    }
    victims.push_back(std::move(one));
  }
  std::string body =
      extender_preemption(pod, std::move(victims), by_uid ? VictimForm::uid : VictimForm::object);
  PLIM_CO_TRY(const std::vector<ExtenderVictims> wanted,
              co_await extender->preempt(std::move(body)));
  std::vector<PreemptionCandidate> out;
  for (const ExtenderVictims& one : wanted) {
    auto known = std::ranges::find(candidates, one.node, &PreemptionCandidate::node);
    if (known == candidates.end())
      co_return fail(Code::invalid, fmt::format("extender {}: node \"{}\" is not a candidate",
                                                extender->name(), one.node));
    if (one.pods.empty()) {
      if (extender->config().ignorable) continue;
      co_return fail(Code::invalid,
                     fmt::format("expected at least one victim pod on node \"{}\"", one.node));
    }
    PreemptionCandidate kept{
        .node = one.node, .victims = {}, .budget_violations = one.budget_violations};
    for (const std::string& uid : one.pods) {
      auto victim = std::ranges::find(known->victims, uid,
                                      [](const PodPointer& each) { return each->meta.uid; });
      if (victim == known->victims.end())
        co_return fail(
            Code::invalid,
            fmt::format("extender: {} claims to preempt pod (UID: {}) on node: {}, but the "
                        "pod is not found on that node",
                        extender->name(), uid, one.node));
      kept.victims.push_back(*victim);
    }
    out.push_back(std::move(kept));
  }
  co_return out;
}

Task<Result<std::vector<PreemptionCandidate>>> ExtenderRound::spare(
    Extenders extenders, PodPointer pod, std::vector<PreemptionCandidate> candidates) {
  PLIM_CO_TRY(const std::string text, co_await texts_.pod(pod));
  for (const auto& extender : *extenders) {
    if (candidates.empty()) break;
    if (extender->config().preempt_verb.empty() || !extender->is_interested(*pod)) continue;
    auto left = co_await spare_by(extender, text, candidates);
    if (left) {
      candidates = std::move(*left);
      continue;
    }
    if (!extender->config().ignorable) co_return left.error();
    log::warn("scheduler", "goes on without an extender",
              {{"pod", kube::object_key(pod->meta)}, {"error", left.error()}});
  }
  co_return candidates;
}

}  // namespace plim::sched
