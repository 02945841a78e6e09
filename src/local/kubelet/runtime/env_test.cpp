#include "local/kubelet/runtime/env.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::kubelet {
namespace {

PodPlace place() {
  return {.node = "n1",
          .host_ip = "127.32.1.1",
          .pod_ip = "127.32.1.9",
          .cpu = Quantity(4),
          .memory = Quantity::from_bytes(std::int64_t{8} << 30)};
}

const json::value kPod = json::value{
    {"metadata",
     {{"name", "web"}, {"namespace", "shop"}, {"uid", "u1"}, {"labels", {{"app", "a\"b"}}}}},
    {"spec", {{"serviceAccountName", "robot"}}}};

std::string value_of(std::string_view container, std::string_view name,
                     const PodSources& sources = {}) {
  auto out = make_environment(kPod, apiserver::testing::parsed(container), place(), sources, {});
  if (!out) return "error: " + out.error().message;
  const std::string* value = out->get(name);
  return value != nullptr ? *value : "(unset)";
}

TEST(Expansion, replaces_what_is_known) {
  Environment environment;
  environment.set("A", "1");
  environment.set("B", "2");

  struct Row {
    const char *text, *want;
  };

  const std::vector<Row> rows{
      {"$(A)", "1"},      {"x$(A)$(B)y", "x12y"}, {"$(C)", "$(C)"}, {"$$(A)", "$(A)"},
      {"$$$(A)", "$1"},   {"$A", "$A"},           {"$", "$"},       {"$(A", "$(A"},
      {"100%$", "100%$"}, {"$()", "$()"},         {"", ""},
  };
  for (const Row& row : rows) EXPECT_EQ(expand(row.text, environment), row.want) << row.text;
}

TEST(Env, expands_what_was_set_before) {
  const char* container = R"x({"env":[{"name":"A","value":"1"},
      {"name":"B","value":"$(A)$(C)"},{"name":"C","value":"3"}]})x";
  EXPECT_EQ(value_of(container, "B"), "1$(C)");
}

TEST(Env, knows_the_pod) {
  struct Row {
    const char *path, *want;
  };

  const std::vector<Row> rows{
      {"metadata.name", "web"},
      {"metadata.namespace", "shop"},
      {"metadata.uid", "u1"},
      {"spec.nodeName", "n1"},
      {"status.podIP", "127.32.1.9"},
      {"status.hostIP", "127.32.1.1"},
      {"metadata.labels['app']", "a\"b"},
      {"metadata.annotations['x']", ""},
      {"spec.serviceAccountName", "robot"},
  };
  for (const Row& row : rows) {
    const std::string container = fmt::format(
        R"x({{"env":[{{"name":"A","valueFrom":{{"fieldRef":{{"fieldPath":"{}"}}}}}}]}})x",
        row.path);
    EXPECT_EQ(value_of(container, "A"), row.want) << row.path;
  }
}

TEST(Env, knows_the_containers_resources) {
  const std::string container = R"({"resources":{"requests":{"cpu":"250m","memory":"64Mi"},
        "limits":{"memory":"100M"}},
      "env":[{"name":"A","valueFrom":{"resourceFieldRef":{"resource":"RES","divisor":"DIV"}}}]})";

  struct Row {
    const char *resource, *divisor, *want;
  };

  const std::vector<Row> rows{
      {"requests.cpu", "0", "1"},       {"requests.cpu", "1m", "250"},
      {"requests.memory", "1Mi", "64"}, {"limits.memory", "1", "100000000"},
      {"limits.memory", "1Mi", "96"},   {"limits.cpu", "1", "4"},
  };
  for (const Row& row : rows) {
    std::string text = container;
    text.replace(text.find("RES"), 3, row.resource);
    text.replace(text.find("DIV"), 3, row.divisor);
    EXPECT_EQ(value_of(text, "A"), row.want) << row.resource << " / " << row.divisor;
  }
}

TEST(Env, reads_config_maps_and_secrets) {
  PodSources sources;
  sources.config_maps["cm"] = apiserver::testing::parsed(R"({"data":{"k":"v","n":"1"}})");
  sources.secrets["s"] = apiserver::testing::parsed(R"({"data":{"p":"c2VjcmV0"}})");
  const char* from = R"({"envFrom":[{"configMapRef":{"name":"cm"}},
      {"prefix":"S_","secretRef":{"name":"s"}},{"configMapRef":{"name":"no","optional":true}}],
      "env":[{"name":"n","value":"2"}]})";
  EXPECT_EQ(value_of(from, "k", sources), "v");
  EXPECT_EQ(value_of(from, "n", sources), "2");
  EXPECT_EQ(value_of(from, "S_p", sources), "secret");
  const char* key = R"({"env":[{"name":"A","valueFrom":
      {"secretKeyRef":{"name":"s","key":"p"}}}]})";
  EXPECT_EQ(value_of(key, "A", sources), "secret");
}

TEST(Env, says_what_is_missing) {
  PodSources sources;
  sources.config_maps["cm"] = apiserver::testing::parsed(R"({"data":{}})");

  struct Row {
    const char *reference, *want;
  };

  const std::vector<Row> rows{
      {R"("configMapKeyRef":{"name":"no","key":"k"})", "error: configmap \"no\" not found"},
      {R"("secretKeyRef":{"name":"no","key":"k"})", "error: secret \"no\" not found"},
      {R"("configMapKeyRef":{"name":"cm","key":"k"})",
       "error: couldn't find key k in ConfigMap shop/cm"},
      {R"("configMapKeyRef":{"name":"cm","key":"k","optional":true})", "(unset)"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(value_of(std::string(R"({"env":[{"name":"A","valueFrom":{)") + row.reference + "}}]}",
                       "A", sources),
              row.want);
}

TEST(Env, links_services) {
  PodSources sources;
  sources.services.push_back(
      apiserver::testing::parsed(R"({"metadata":{"name":"my-db"},"spec":{"clusterIP":"127.96.0.7",
      "ports":[{"name":"sql","port":5432},{"port":53,"protocol":"UDP"}]}})"));
  sources.services.push_back(apiserver::testing::parsed(
      R"({"metadata":{"name":"headless"},"spec":{"clusterIP":"None","ports":[{"port":1}]}})"));
  EXPECT_EQ(value_of("{}", "MY_DB_SERVICE_HOST", sources), "127.96.0.7");
  EXPECT_EQ(value_of("{}", "MY_DB_SERVICE_PORT", sources), "5432");
  EXPECT_EQ(value_of("{}", "MY_DB_SERVICE_PORT_SQL", sources), "5432");
  EXPECT_EQ(value_of("{}", "MY_DB_PORT", sources), "tcp://127.96.0.7:5432");
  EXPECT_EQ(value_of("{}", "MY_DB_PORT_53_UDP", sources), "udp://127.96.0.7:53");
  EXPECT_EQ(value_of("{}", "MY_DB_PORT_5432_TCP_ADDR", sources), "127.96.0.7");
  EXPECT_EQ(value_of("{}", "HEADLESS_SERVICE_HOST", sources), "(unset)");
}

}  // namespace
}  // namespace plim::local::kubelet
