#include "sched/config.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.hpp"

namespace plim::sched {
namespace {

constexpr std::string_view kSeedFile = R"(apiVersion: kubescheduler.config.k8s.io/v1beta1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: /etc/kubernetes/scheduler.conf
percentageOfNodesToScore: 100
profiles:
- schedulerName: default-scheduler
  plugins:
    score:
      disabled:
      - name: '*'
      enabled:
      - name: ImageLocality
        weight: 1000
)";

std::string v1(std::string_view rest) {
  return fmt::format(
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n{}", rest);
}

std::string v1_plugins(std::string_view plugins) {
  return v1(fmt::format("profiles:\n- plugins: {}\n", plugins));
}

ConfigRead read(std::string_view text, const ReadConfigOptions& options = {}) {
  auto made = read_configuration(text, "s.conf", options);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made ? std::move(*made) : ConfigRead{};
}

Profile profile_of(std::string_view text) {
  ConfigRead made = read(text);
  return made.config.profiles.empty() ? Profile{} : made.config.profiles[0].profile;
}

std::string mistake(std::string_view text, const ReadConfigOptions& options = {}) {
  auto made = read_configuration(text, "s.conf", options);
  EXPECT_FALSE(made);
  return made ? "" : made.error().message;
}

void expect_same_plugins(const Profile& a, const Profile& b) {
  EXPECT_EQ(a.pre_enqueue, b.pre_enqueue);
  EXPECT_EQ(a.pre_filter, b.pre_filter);
  EXPECT_EQ(a.filter, b.filter);
  EXPECT_EQ(a.post_filter, b.post_filter);
  EXPECT_EQ(a.pre_score, b.pre_score);
  EXPECT_EQ(a.score, b.score);
  EXPECT_EQ(a.reserve, b.reserve);
  EXPECT_EQ(a.permit, b.permit);
  EXPECT_EQ(a.pre_bind, b.pre_bind);
  EXPECT_EQ(a.bind, b.bind);
  EXPECT_EQ(a.post_bind, b.post_bind);
}

TEST(SchedConfig, gives_the_default_profile_for_an_empty_file) {
  const ConfigRead made = read(v1(""));
  EXPECT_TRUE(made.warnings.empty());
  ASSERT_EQ(made.config.profiles.size(), 1U);
  expect_same_plugins(made.config.profiles[0].profile, placement::default_profile());
  expect_same_plugins(profile_of(v1_plugins("{}")), placement::default_profile());
  EXPECT_EQ(made.config.election.name, "kube-scheduler");
  EXPECT_EQ(made.config.client.qps, 50);
  EXPECT_FALSE(made.config.client.sets_rate);
}

TEST(SchedConfig, reads_the_seeds_file_unchanged) {
  const ConfigRead made = read(kSeedFile);
  ASSERT_EQ(made.warnings.size(), 1U);
  EXPECT_NE(made.warnings[0].find("v1beta1"), std::string::npos);
  const Profile& profile = made.config.profiles[0].profile;
  ASSERT_EQ(profile.score.size(), 1U);
  EXPECT_EQ(profile.score[0], (WeightedPlugin{PluginId::ImageLocality, 1000}));
  EXPECT_EQ(profile.locality.mode, LocalityMode::Bytes);
  EXPECT_EQ(profile.pre_score.size(), 6U);
  EXPECT_EQ(profile.percentage_of_nodes, 100);
  EXPECT_EQ(made.config.client.kubeconfig, "/etc/kubernetes/scheduler.conf");
}

TEST(SchedConfig, reads_a_file_without_version_as_v1_unless_strict) {
  const std::string text(kSeedFile.substr(kSeedFile.find('\n') + 1));
  const ConfigRead made = read(text);
  ASSERT_EQ(made.warnings.size(), 1U);
  EXPECT_NE(made.warnings[0].find("apiVersion is missing"), std::string::npos);
  EXPECT_EQ(made.config.profiles[0].profile.pre_score, placement::default_profile().pre_score);
  EXPECT_NE(mistake(text, {.strict = true}).find("apiVersion is missing"), std::string::npos);
}

TEST(SchedConfig, has_the_weights_of_the_betas) {
  for (const std::string_view version : {"v1beta1", "v1beta2"}) {
    const Profile profile = profile_of(
        fmt::format("apiVersion: kubescheduler.config.k8s.io/{}\nkind: KubeSchedulerConfiguration\n"
                    "profiles: [{{schedulerName: x}}]\n",
                    version));
    const std::vector<WeightedPlugin> want{{PluginId::NodeResourcesBalancedAllocation, 1},
                                           {PluginId::ImageLocality, 1},
                                           {PluginId::InterPodAffinity, 1},
                                           {PluginId::NodeResourcesFit, 1},
                                           {PluginId::NodeAffinity, 1},
                                           {PluginId::PodTopologySpread, 2},
                                           {PluginId::TaintToleration, 1}};
    EXPECT_EQ(profile.score, want);
  }
}

TEST(SchedConfig, settings_for_all_profiles_apply_to_the_default_profile) {
  EXPECT_EQ(profile_of(v1("percentageOfNodesToScore: 30")).percentage_of_nodes, 30);
  const Profile old = profile_of(
      "apiVersion: kubescheduler.config.k8s.io/v1beta2\nkind: KubeSchedulerConfiguration\n");
  EXPECT_EQ(old.score[0], (WeightedPlugin{PluginId::NodeResourcesBalancedAllocation, 1}));
}

TEST(SchedConfig, converts_plugins_of_the_betas) {
  const ConfigRead made = read(R"(apiVersion: kubescheduler.config.k8s.io/v1beta1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    filter: {disabled: [{name: EBSLimits}]}
    score:
      disabled: [{name: NodeResourcesLeastAllocated}, {name: NodePreferAvoidPods}]
      enabled: [{name: NodeResourcesMostAllocated, weight: 5}]
  pluginConfig:
  - name: NodeResourcesMostAllocated
    args: {resources: [{name: cpu, weight: 3}]}
)");
  const Profile& profile = made.config.profiles[0].profile;
  EXPECT_EQ(profile.score[3], (WeightedPlugin{PluginId::NodeResourcesFit, 5}));
  EXPECT_EQ(profile.fit.strategy, placement::FitStrategy::MostAllocated);
  EXPECT_EQ(profile.fit.resources, (std::vector<placement::ResourceWeight>{{"cpu", 3}}));
  EXPECT_EQ(std::ranges::count(profile.filter, PluginId::NodeVolumeLimits), 0);
  EXPECT_EQ(made.warnings.size(), 6U);
}

TEST(SchedConfig, warns_about_a_time_limit_of_claims) {
  const auto with_limit = [](std::string_view limit) {
    return read(v1(fmt::format("profiles:\n- pluginConfig:\n  - name: DynamicResources\n    "
                               "args: {{filterTimeout: {}}}",
                               limit)))
        .warnings;
  };
  EXPECT_TRUE(with_limit("10s").empty());
  ASSERT_EQ(with_limit("3s").size(), 1U);
  EXPECT_NE(with_limit("3s")[0].find("filterTimeout: has no effect"), std::string::npos);
}

TEST(SchedConfig, warns_about_unknown_fields_in_betas_and_rejects_them_in_v1) {
  const ConfigRead made = read(
      "apiVersion: kubescheduler.config.k8s.io/v1beta2\nkind: KubeSchedulerConfiguration\n"
      "paralelism: 3\n");
  EXPECT_EQ(made.warnings.size(), 2U);
  EXPECT_EQ(mistake(v1("paralelism: 3")),
            "s.conf:3:1: unknown field \"paralelism\", did you mean parallelism?");
  EXPECT_NE(mistake(v1("parallelism: 3\nparallelism: 4")).find("s.conf:4"), std::string::npos);
}

TEST(SchedConfig, keeps_the_other_scores_when_one_is_enabled) {
  const Profile profile =
      profile_of(v1_plugins("{score: {enabled: [{name: ImageLocality, weight: 5}]}}"));
  ASSERT_EQ(profile.score.size(), 9U);
  EXPECT_EQ(profile.score[0], (WeightedPlugin{PluginId::ImageLocality, 5}));
  EXPECT_EQ(profile.score[1], (WeightedPlugin{PluginId::TaintToleration, 3}));
}

TEST(SchedConfig, accepts_a_minimal_set_of_plugins) {
  const Profile profile = profile_of(
      v1_plugins("{multiPoint: {disabled: [{name: '*'}], enabled: [{name: DefaultBinder}, "
                 "{name: PrioritySort}, {name: NodeResourcesFit}]}}"));
  EXPECT_EQ(profile.filter, std::vector{PluginId::NodeResourcesFit});
  EXPECT_EQ(profile.score.size(), 1U);
  EXPECT_EQ(profile.bind, std::vector{PluginId::DefaultBinder});
  EXPECT_TRUE(profile.post_filter.empty());
}

TEST(SchedConfig, replaces_a_default_in_its_place) {
  const Profile profile = profile_of(v1_plugins(
      "{multiPoint: {enabled: [{name: NodeAffinity, weight: 7}], disabled: [{name: NodeAffinity}, "
      "{name: TaintToleration}]}, score: {disabled: [{name: ImageLocality}]}}"));
  EXPECT_EQ(profile.score[0], (WeightedPlugin{PluginId::NodeAffinity, 7}));
  EXPECT_EQ(profile.score.size(), 7U);
  EXPECT_EQ(profile.filter[2], PluginId::NodeAffinity);
}

TEST(SchedConfig, rejects_what_kube_scheduler_rejects_and_names_the_field) {
  const std::pair<std::string, std::string_view> cases[]{
      {v1_plugins("{multiPoint: {disabled: [{name: PrioritySort}]}}"), "queueSort"},
      {v1_plugins("{queueSort: {enabled: [{name: PrioritySort}, {name: PrioritySort}]}}"),
       "queueSort.enabled[1].name"},
      {v1_plugins("{queueSort: {enabled: [{name: ImageLocality}]}}"), "does not run at queueSort"},
      {v1_plugins("{bind: {disabled: [{name: '*'}]}}"), "plugins.bind"},
      {v1_plugins("{score: {enabled: [{name: Nonsense}]}}"),
       "profiles[0].plugins.score.enabled[0].name: there is no plugin \"Nonsense\""},
      {v1_plugins("{score: {enabled: [{name: ImageLocality}, {name: ImageLocality}]}}"),
       "enabled[1].name: \"ImageLocality\" is enabled twice"},
      {v1_plugins("{score: {enabled: [{name: NodePorts}]}}"), "does not run at score"},
      {v1_plugins("{filter: {enabled: [{name: EBSLimits}]}}"), "use NodeVolumeLimits"},
      {v1_plugins("{score: {enabled: [{name: ImageLocalityPriority}]}}"),
       "the plugin is ImageLocality"},
      {v1_plugins("{score: {enabled: [{name: ImageLocality, weight: -1}]}}"), "weight"},
      {v1("profiles:\n- pluginConfig:\n  - name: NodeResourcesBalancedAllocation\n    args: "
          "{resources: [{name: cpu, weight: 2}]}"),
       "every weight must be 1"},
      {v1("profiles:\n- pluginConfig: [{name: NodePorts}, {name: NodePorts}]"), "configured twice"},
      {v1("podInitialBackoffSeconds: 5\npodMaxBackoffSeconds: 4"), "podMaxBackoffSeconds"},
      {v1("percentageOfNodesToScore: 101"), "between 0 and 100"},
      {v1("profiles: [{schedulerName: a}, {schedulerName: a}]"), "profiles[1].schedulerName"},
      {v1("profiles: [{schedulerName: a}, {}]"), "profiles[1].schedulerName"},
      {v1("leaderElection: {leaseDuration: 5s}"), "leaderElection: leaseDuration must be longer"},
      {v1("extenders: [{urlPrefix: 'http://x', httpTimeout: 5}]"),
       "extenders[0].httpTimeout: expected a duration with a unit, found 5; write 5s"},
      {v1("leaderElection: {leaseDuration: 20}"), "found 20; write 20s"},
      {v1("profiles:\n- pluginConfig:\n  - name: DynamicResources\n    args: {filterTimeout: 3}"),
       "filterTimeout: expected a duration with a unit"},
      {v1("profiles:\n- pluginConfig:\n  - name: ImageLocality\n    args: {inventoryMaxAge: 600}"),
       "inventoryMaxAge: expected a duration with a unit"},
      {v1("leaderElection: {retryPeriod: -1s}"), "leaderElection: renewDeadline and retryPeriod"},
      {v1("leaderElection: {resourceLock: endpoints}"), "use leases"},
      {v1("extenders: [{urlPrefix: 'http://x', prioritizeVerb: p}]"), "extenders[0].weight"},
      {v1("parallelism: many"), "expected an integer"},
      {"apiVersion: v9\nkind: KubeSchedulerConfiguration", "s.conf:1:13: apiVersion"},
      {"", "empty"},
      {"[]", "expected an object"},
  };
  for (const auto& [text, want] : cases)
    EXPECT_NE(mistake(text).find(want), std::string::npos) << text << "\n" << mistake(text);
}

TEST(SchedConfig, rejects_added_affinity_that_would_match_nothing) {
  const auto added = [](std::string_view affinity) {
    return v1(
        fmt::format("profiles:\n- pluginConfig:\n  - name: NodeAffinity\n    args: "
                    "{{addedAffinity: {{{}}}}}",
                    affinity));
  };
  const auto required = [&](std::string_view term) {
    return added(fmt::format(
        "requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{}]}}", term));
  };
  const std::string good =
      "{matchExpressions: [{key: a, operator: In, values: [b]}], matchFields: "
      "[{key: metadata.name, operator: NotIn, values: [one]}]}";
  EXPECT_TRUE(read(required(good)).warnings.empty());
  EXPECT_TRUE(
      read(added("preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: " +
                 good + "}]"))
          .warnings.empty());
  const std::pair<std::string, std::string_view> cases[]{
      {required("{matchExpressions: [{key: a, operator: Among, values: [b]}]}"),
       "nodeSelectorTerms[0].matchExpressions: contains an invalid key"},
      {required("{matchExpressions: [{key: a, operator: In}]}"),
       "matchExpressions: contains an invalid key"},
      {required("{matchFields: [{key: metadata.name, operator: Exists}]}"),
       "matchFields: contains an invalid key"},
      {required("{matchLabels: {a: b}}"), "unknown field"},
      {added("preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "
             "{matchExpressions: [{key: a, operator: Gt, values: [b]}]}}]"),
       "preference.matchExpressions: contains an invalid key"},
  };
  for (const auto& [text, want] : cases)
    EXPECT_NE(mistake(text).find(want), std::string::npos) << text << "\n" << mistake(text);
}

// How Go programs write fields that are not set.
TEST(SchedConfig, reads_empty_values_as_defaults) {
  const ConfigRead made = read(
      v1("leaderElection: {leaderElect: true, leaseDuration: 0s, renewDeadline: 0s, retryPeriod: "
         "0s, resourceLock: '', resourceName: '', resourceNamespace: ''}\nprofiles: []\n"));
  EXPECT_TRUE(made.warnings.empty());
  EXPECT_EQ(made.config.election.lease_duration, std::chrono::seconds(15));
  EXPECT_EQ(made.config.election.retry_period, std::chrono::seconds(2));
  EXPECT_EQ(made.config.election.name, "kube-scheduler");
  EXPECT_EQ(made.config.election.ns, "kube-system");
  EXPECT_EQ(made.config.profiles.size(), 1U);
}

TEST(SchedConfig, checks_election_settings_only_if_election_is_on) {
  const ConfigRead made =
      read(v1("leaderElection: {leaderElect: false, leaseDuration: 5s, resourceLock: endpoints}"));
  EXPECT_FALSE(made.config.election.elect);
  EXPECT_TRUE(made.warnings.empty());
}

TEST(SchedConfig, ignores_arguments_of_unknown_plugins) {
  const ConfigRead made = read(v1("profiles:\n- pluginConfig: [{name: Coffee, args: {sugar: 2}}]"));
  ASSERT_EQ(made.warnings.size(), 1U);
  EXPECT_NE(made.warnings[0].find("pluginConfig[0].name: there is no plugin \"Coffee\""),
            std::string::npos);
  EXPECT_NE(mistake(v1("profiles:\n- pluginConfig: [{name: EBSLimits}]")).find("no longer exists"),
            std::string::npos);
}

TEST(SchedConfig, reports_twenty_unknown_fields_and_counts_the_others) {
  std::string text = v1("");
  for (int i = 0; i < 1000; ++i) text += fmt::format("x{}: 1\n", i);
  const auto read = read_configuration(text, "s.conf");
  ASSERT_FALSE(read);
  const auto lines = split(read.error().message, '\n');
  ASSERT_EQ(lines.size(), 21u);
  EXPECT_EQ(lines[19], "s.conf:22:1: unknown field \"x19\"");
  EXPECT_EQ(lines[20], "s.conf:1:1: 980 more fields are unknown");
}

TEST(SchedConfig, reports_all_mistakes_at_once) {
  EXPECT_EQ(mistake(v1("parallelism: 0\nfoo: 1\n")),
            "s.conf:3:14: parallelism: 0 is too small, the least is 1\n"
            "s.conf:4:1: unknown field \"foo\"");
}

TEST(SchedConfig, names_the_successors_of_a_policy) {
  const std::string told = mistake(
      R"({"kind":"Policy","apiVersion":"v1","priorities":[{"name":"ImageLocalityPriority","weight":1}]})");
  EXPECT_NE(told.find("kind Policy ended with Kubernetes 1.23"), std::string::npos) << told;
  EXPECT_NE(told.find("ImageLocalityPriority is now the plugin ImageLocality"), std::string::npos);
}

TEST(SchedConfig, reads_arguments_of_plugins) {
  const Profile profile = profile_of(v1(R"(profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesFitArgs
      ignoredResources: [example.com/foo]
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources: [{name: cpu, weight: 3}, {name: memory}]
        requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints:
      - {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}
      - {maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, minDomains: 3, nodeAffinityPolicy: Ignore,
         nodeTaintsPolicy: Honor}
  - name: InterPodAffinity
    args: {hardPodAffinityWeight: 50, ignorePreferredTermsOfExistingPods: true}
  - name: ImageLocality
    args: {mode: PullTime, tieBreak: First, granularity: Image, inventory: StatusOnly, horizon: 2m,
           pullBandwidth: 10Mi/s, inventoryMaxAge: 1m, require: true}
)"));
  EXPECT_EQ(profile.fit.strategy, placement::FitStrategy::RequestedToCapacityRatio);
  EXPECT_EQ(profile.fit.resources,
            (std::vector<placement::ResourceWeight>{{"cpu", 3}, {"memory", 1}}));
  EXPECT_EQ(profile.fit.shape.size(), 2U);
  EXPECT_FALSE(profile.spread.system_defaults);
  EXPECT_EQ(profile.spread.defaults,
            (std::vector<placement::SpreadDefault>{{2, "zone", true},
                                                   {.max_skew = 1,
                                                    .topology_key = "rack",
                                                    .hard = true,
                                                    .min_domains = 3,
                                                    .honor_affinity = false,
                                                    .honor_taints = true}}));
  EXPECT_EQ(profile.inter_pod.hard_weight, 50);
  EXPECT_EQ(profile.locality.mode, LocalityMode::PullTime);
  EXPECT_EQ(profile.locality.tie_break, placement::TieBreak::First);
  EXPECT_FALSE(profile.locality.layers);
  EXPECT_EQ(profile.locality.pull_bandwidth, 10 * 1024 * 1024);
  EXPECT_EQ(profile.locality.horizon, std::chrono::minutes(2));
  EXPECT_TRUE(profile.locality.require);
}

TEST(SchedConfig, lets_the_flag_decide_the_locality_mode) {
  const ConfigRead made = read(kSeedFile, {.locality_mode = LocalityMode::Compat});
  EXPECT_EQ(made.config.profiles[0].profile.locality.mode, LocalityMode::Compat);
}

TEST(SchedConfig, reads_back_what_it_writes) {
  for (const std::string& text :
       {std::string(kSeedFile), v1(""),
        v1_plugins("{multiPoint: {disabled: [{name: TaintToleration}]}, score: {disabled: "
                   "[{name: ImageLocality}], enabled: [{name: NodeAffinity, weight: 9}]}}"),
        v1("profiles:\n- pluginConfig:\n  - name: PodTopologySpread\n    args: {defaultingType: "
           "List, defaultConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: "
           "DoNotSchedule, minDomains: 2, nodeAffinityPolicy: Ignore, nodeTaintsPolicy: Honor}]}"),
        v1("extenders: [{urlPrefix: 'http://x', filterVerb: f, managedResources: [{name: "
           "example.com/a, ignoredByScheduler: true}], tlsConfig: {caData: aGk=}}]")}) {
    const ConfigRead first = read(text);
    const json::value written = write_configuration(first.config);
    const ConfigRead second = read(to_json(written));
    EXPECT_TRUE(second.warnings.empty());
    expect_same_plugins(first.config.profiles[0].profile, second.config.profiles[0].profile);
    EXPECT_EQ(first.config.profiles[0].profile.spread, second.config.profiles[0].profile.spread);
    EXPECT_EQ(to_json(write_configuration(second.config)), to_json(written));
    EXPECT_EQ(describe_plugins(first.config), describe_plugins(second.config));
  }
}

TEST(SchedConfig, shows_the_plugins_of_each_point) {
  const std::string shown = describe_plugins(read(kSeedFile).config);
  EXPECT_NE(shown.find("score        ImageLocality(1000)[mode Bytes]\n"), std::string::npos)
      << shown;
  EXPECT_NE(shown.find("permit       -\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find(" NodeVolumeLimits VolumeBinding "), std::string::npos) << shown;
}

}  // namespace
}  // namespace plim::sched
