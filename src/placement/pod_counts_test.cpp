#include "placement/pod_counts.hpp"

#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "placement/testing/objects.hpp"

namespace plim::placement {
namespace {

using Counts = std::map<NodeIndex, std::uint32_t>;
using Placed = std::vector<std::pair<PodPointer, NodeIndex>>;

PodMatcher matcher_in(std::vector<std::string> namespaces, std::string_view selector) {
  return {.clauses = {{.namespaces = std::move(namespaces),
                       .selector = *kube::LabelSelector::parse(selector)}}};
}

// Namespaces a and b; labels app and tier with three values each, either may be missing.
PodPointer draw_pod(Random& random, int number) {
  std::string labels;
  for (std::string_view key : {"app", "tier"})
    if (auto value = random.below(4); value != 0) labels += fmt::format("{}: v{}, ", key, value);
  return testing::pod_of(
      fmt::format("{{metadata: {{name: p{0}, uid: p{0}, namespace: {1}, labels: {{{2}}}{3}}}}}",
                  number, random.below(2) == 0 ? "a" : "b", labels,
                  random.below(4) == 0 ? ", deletionTimestamp: '2026-01-01T00:00:00Z'" : ""));
}

PodMatcher::Clause draw_clause(Random& random) {
  constexpr std::string_view kSelectors[] = {"",
                                             "app=v1",
                                             "app=v2,tier=v1",
                                             "app in (v1,v3)",
                                             "tier in (v1,v2),app!=v1",
                                             "app!=v2",
                                             "tier,app notin (v1)",
                                             "!app",
                                             "tier",
                                             "app=v3,!tier"};
  PodMatcher::Clause out;
  out.any_namespace = random.below(3) == 0;
  if (random.below(2) == 0) out.namespaces.emplace_back("a");
  if (random.below(2) == 0) out.namespaces.emplace_back("b");
  out.selector = random.below(12) == 0
                     ? kube::LabelSelector::nothing()
                     : *kube::LabelSelector::parse(kSelectors[random.below(std::size(kSelectors))]);
  return out;
}

PodMatcher draw_matcher(Random& random) {
  PodMatcher out;
  for (auto clauses = 1 + random.below(2); clauses > 0; --clauses)
    out.clauses.push_back(draw_clause(random));
  out.leave_out_terminating = random.below(2) == 0;
  return out;
}

Counts recount(const PodMatcher& matcher, const Placed& placed) {
  Counts out;
  for (const auto& [pod, row] : placed)
    if (matcher.matches(*pod)) ++out[row];
  return out;
}

Counts ask(PodCounts& counts, const PodMatcher& matcher, const Placed& placed) {
  const RowCounts& found = counts.get(matcher, [&](const auto& visit) {
    for (const auto& [pod, row] : placed) visit(*pod, row);
  });
  Counts out;
  for (const auto& [row, pods] : found.entries()) out[row] = pods;
  return out;
}

TEST(PodCounts, equal_a_recount_after_any_changes) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SeededRandom random(seed);
    PodCounts counts;
    Placed placed;
    for (int step = 0; step < 300; ++step) {
      if (!placed.empty() && random.below(3) == 0) {
        const auto gone = placed.begin() + static_cast<std::ptrdiff_t>(random.below(placed.size()));
        counts.count(*gone->first, gone->second, -1);
        placed.erase(gone);
      } else {
        placed.emplace_back(draw_pod(random, step), static_cast<NodeIndex>(random.below(70)));
        counts.count(*placed.back().first, placed.back().second, 1);
      }
      const PodMatcher matcher = draw_matcher(random);
      ASSERT_EQ(ask(counts, matcher, placed), recount(matcher, placed))
          << "seed " << seed << ", step " << step << ": " << matcher.text();
    }
  }
}

TEST(PodCounts, keep_many_selectors_current_without_asking_for_all_pods_again) {
  PodCounts counts;
  auto service = [](int number) { return matcher_in({"a"}, fmt::format("app=s{}", number)); };
  int scans = 0;
  auto none = [&](const auto&) { ++scans; };
  constexpr int kServices = 2000;
  for (int i = 0; i < kServices; ++i) counts.get(service(i), none);
  const PodPointer pod = testing::pod_of("{metadata: {name: p, namespace: a, labels: {app: s7}}}");
  counts.count(*pod, 3, 1);
  for (int i = 0; i < kServices; ++i)
    EXPECT_EQ(counts.get(service(i), none).entries().size(), i == 7 ? 1u : 0u);
  EXPECT_EQ(scans, kServices);
}

TEST(PodCounts, forget_selectors_that_were_not_used_lately) {
  PodCounts counts;
  int scans = 0;
  auto none = [&](const auto&) { ++scans; };
  auto ask_for = [&](std::size_t number) {
    counts.get(matcher_in({"a"}, fmt::format("app=s{}", number)), none);
  };
  for (std::size_t i = 0; i < PodCounts::kMost; ++i) ask_for(i);
  ask_for(0);
  ask_for(PodCounts::kMost);
  EXPECT_EQ(counts.size(), PodCounts::kMost);
  const int before = scans;
  ask_for(0);
  EXPECT_EQ(scans, before);
  ask_for(1);
  EXPECT_EQ(scans, before + 1);
}

TEST(RowCounts, read_ascending_rows) {
  RowCounts counts;
  for (NodeIndex row : {7u, 2u, 7u, 90u}) counts.add(row, 1);
  counts.add(90, -1);
  RowCountReader reader(counts);
  EXPECT_EQ(reader.at(0), 0u);
  EXPECT_EQ(reader.at(2), 1u);
  EXPECT_EQ(reader.at(3), 0u);
  EXPECT_EQ(reader.at(7), 2u);
  EXPECT_EQ(reader.at(90), 0u);
}

}  // namespace
}  // namespace plim::placement
