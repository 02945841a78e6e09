// Tests of every code, and of the words its message must contain.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "pools/testing/admission_pods.hpp"

namespace plim::pools {
namespace {

using testing::admit;
using testing::creation_of;
using testing::pod_of;
using testing::sample_catalog;

constexpr std::string_view kSpec = R"({"containers":[
    {"name":"a","resources":{"limits":{"nokia.k8s.io/cpupool1":"3","nokia.k8s.io/sharedpool":"100"}}},
    {"name":"cores","resources":{"limits":{"nokia.k8s.io/exclusive-cores":"3"}}},
    {"name":"plain"}]})";

std::string process(std::string_view pool, std::string_view cpus) {
  return fmt::format(R"({{"process":"p","args":[],"pool":"{}","cpus":{}}})", pool, cpus);
}

std::string element(std::string_view container, std::string_view processes) {
  return fmt::format(R"({{"container":"{}","processes":[{}]}})", container, processes);
}

// The message must begin with the code and contain all words.
void expect_refusal(const kube::AdmissionAnswer& answer, std::string_view code,
                    std::initializer_list<std::string_view> words, std::string_view about) {
  EXPECT_FALSE(answer.allowed) << about;
  EXPECT_EQ(answer.code, code) << answer.message << "\n" << about;
  EXPECT_TRUE(answer.message.starts_with(std::string(code) + ": ")) << answer.message;
  EXPECT_TRUE(answer.patch.empty());
  for (std::string_view word : words)
    EXPECT_NE(answer.message.find(word), std::string::npos) << word << " in " << answer.message;
}

void expect_code(std::string_view code, const std::string& annotation,
                 std::initializer_list<std::string_view> words) {
  expect_refusal(admit(pod_of(kSpec, annotation)), code, words, annotation);
}

TEST(AnnotationCodes, ann001_is_for_broken_documents) {
  for (const char* text : {"x", "{}", "[", "[1]", "[[]]", R"(["a"])", "[]x", "\"a\"", "null"})
    expect_code("ANN001", text, {});
  expect_code("ANN001", R"([{"container":1,"processes":[]}])", {"element 0", "container"});
  expect_code("ANN001", R"([{"container":"a","processes":{}}])", {"\"a\"", "processes"});
  expect_code("ANN001", R"([{"container":"a","container":"b"}])", {"element 0", "twice"});
  expect_code("ANN001", R"([{"container":"a","onExit":"never","processes":[]}])", {"onExit"});
  expect_code("ANN001", "[" + element("a", process("sharedpool", "1.5")) + "]",
              {"\"a\"", "process 0", "cpus"});
  for (const char* cpus : {"\"1\"", "1.0", "1e3", "true", "[]", "99999999999", "1e400"})
    expect_code("ANN001", "[" + element("a", process("sharedpool", cpus)) + "]", {});
  for (const char* more :
       {R"("args":"x")", R"("args":[1])", R"("args":null)", R"("env":[])", R"("env":{"A":1})",
        R"("env":{"A=B":"x"})", R"("env":{"A":"x","A":"y"})", R"("nice":20)", R"("nice":"1")",
        R"("sched":"fifo")", R"("sched":"fifo:100")", R"("sched":"idle")",
        R"("process":"a\u0000b")", R"("pool":"x","pool":"y")"})
    expect_code("ANN001", fmt::format(R"([{{"container":"a","processes":[{{{}}}]}}])", more),
                {"\"a\"", "process 0"});
}

TEST(AnnotationCodes, ann001_says_where_the_json_breaks) {
  expect_code("ANN001", R"([{"container" "a"}])", {"line 1, column 15", "':'", "\"\\\"\""});
  expect_code("ANN001", "[\n  {\"container\": \"a\",}\n]",
              {"line 2, column 21", "a key in quotes"});
  expect_code("ANN001", "[{\"container\":\"a\"}", {"line 1, column 19", "found the end"});
}

TEST(AnnotationCodes, ann002_to_ann006_are_for_missing_members) {
  expect_code("ANN002", "[{}]", {"element 0"});
  expect_code("ANN002", R"([{"container":""}])", {"element 0"});
  expect_code("ANN003", R"([{"container":"a"}])", {"\"a\""});
  expect_code("ANN003", R"([{"container":"a","processes":[]}])", {"\"a\""});
  expect_code("ANN004", "[" + element("a", R"({"args":[],"cpus":1,"pool":"x"})") + "]",
              {"\"a\"", "process 0"});
  expect_code("ANN004", "[" + element("a", R"({"process":"","cpus":1,"pool":"x"})") + "]", {});
  expect_code("ANN005", "[" + element("a", R"({"process":"p","args":[],"pool":"x"})") + "]",
              {"\"a\"", "process 0"});
  expect_code("ANN005", "[" + element("a", process("x", "0")) + "]", {"process 0", "0"});
  expect_code("ANN005",
              "[" + element("a", process("sharedpool", "1") + "," + process("x", "-3")) + "]",
              {"process 1", "-3"});
  expect_code("ANN006", "[" + element("a", R"({"process":"p","args":[],"cpus":1})") + "]",
              {"\"a\"", "process 0"});
  expect_code("ANN006", "[" + element("a", process("", "1")) + "]", {});
}

TEST(AnnotationCodes, ann007_is_a_warning) {
  const auto answer = admit(pod_of(
      kSpec, "[" + element("a", R"({"process":"p","pool":"sharedpool","cpus":100,"x":1})") + "]"));
  EXPECT_TRUE(answer.allowed) << answer.message;
  ASSERT_GE(answer.warnings.size(), 2u);
  EXPECT_EQ(answer.warnings[0], "container \"a\", process 0: unknown member \"x\"");
  EXPECT_TRUE(answer.warnings[1].starts_with("ANN007: container \"a\", process 0"));
}

TEST(AnnotationCodes, ann008_to_ann010_are_for_the_wrong_containers_and_pools) {
  const std::string good = element("a", process("sharedpool", "100"));
  expect_code("ANN008", "[" + good + "," + good + "]", {"\"a\"", "element 1"});
  expect_code("ANN009", "[" + element("nobody", process("sharedpool", "100")) + "]",
              {"\"nobody\""});
  expect_code("ANN009", "[" + element("A", process("sharedpool", "100")) + "]", {"\"A\""});
  expect_code("ANN009", "[" + element("plain", process("sharedpool", "100")) + "]", {"\"plain\""});
  expect_code(
      "ANN010",
      "[" + element("a", process("sharedpool", "100") + "," + process("shared-two", "5")) + "]",
      {"\"a\"", "process 1", "\"shared-two\"", "5", "0"});
}

TEST(AnnotationCodes, ann011_compares_each_shared_pool) {
  expect_code(
      "ANN011",
      "[" + element("a", process("sharedpool", "90") + "," + process("sharedpool", "11")) + "]",
      {"\"a\"", "process 1", "101", "100"});
  expect_code("ANN011", "[" + element("a", process("sharedpool", "99")) + "]",
              {"process 0", "99", "100"});
  expect_code("ANN011", "[" + element("a", process("cpupool1", "1")) + "]",
              {"\"a\"", "no process", "0", "100"});
}

TEST(AnnotationCodes, ann012_counts_threads_only_if_the_pool_allocates_cores) {
  const std::string shared = process("sharedpool", "100");
  expect_code("ANN012", "[" + element("a", shared + "," + process("cpupool1", "4")) + "]",
              {"\"a\"", "process 1", "4", "3"});
  expect_code("ANN012", "[" + element("cores", process("exclusive-cores", "7")) + "]", {"7", "6"});
  EXPECT_TRUE(
      admit(pod_of(kSpec, "[" + element("cores", process("exclusive-cores", "6")) + "]")).allowed);
  EXPECT_TRUE(admit(pod_of(kSpec, "[" + element("a", shared) + "]")).allowed);  // CPUs left over
}

TEST(AnnotationCodes, ann013_is_for_an_annotation_without_containers) {
  expect_code("ANN013", "[]", {});
}

TEST(AnnotationCodes, ann014_bounds_the_size) {
  expect_code("ANN014", std::string(256 << 10, ' ') + "[]", {"262146", "262144"});
  std::string containers, processes;
  for (int i = 0; i < 65; ++i)
    containers += (i ? "," : "") + element(fmt::format("c{}", i), process("x", "1"));
  expect_code("ANN014", "[" + containers + "]", {"65", "64"});
  for (int i = 0; i < 257; ++i) processes += (i ? "," : "") + process("sharedpool", "1");
  expect_code("ANN014", "[" + element("a", processes) + "]", {"\"a\"", "257", "256"});
}

TEST(AnnotationCodes, ann015_rejects_changes_of_the_annotation_of_a_pod) {
  auto review = creation_of(pod_of(kSpec, "[]"));
  review.operation = "UPDATE";
  review.old_object = pod_of(kSpec, "[ ]");
  expect_refusal(mutate_pod(review, sample_catalog(), {}), "ANN015", {"changed"}, "");
  review.object = pod_of(kSpec);
  expect_refusal(mutate_pod(review, sample_catalog(), {}), "ANN015", {"removed"}, "");
  std::swap(review.object, review.old_object);
  expect_refusal(mutate_pod(review, sample_catalog(), {}), "ANN015", {"added"}, "");
}

json::value asking(std::string_view pool, std::string_view amount) {
  return pod_of(fmt::format(
      R"({{"containers":[{{"name":"a","resources":{{"limits":{{"nokia.k8s.io/{}":{}}}}}}}]}})",
      pool, amount));
}

TEST(RequestCodes, res001_requires_whole_numbers) {
  for (const char* amount :
       {R"("500m")", R"("1.5")", R"("-1")", R"("x")", R"("")", "[]", "null", R"("1E")"})
    expect_refusal(admit(asking("sharedpool", amount)), "RES001", {"\"a\"", "sharedpool"}, amount);
  for (const char* amount : {R"("2k")", R"("2000")", R"("2e3")", R"("2000000m")", "2000", R"("0")"})
    EXPECT_TRUE(admit(asking("sharedpool", amount)).allowed) << amount;
}

TEST(RequestCodes, res002_follows_the_option) {
  const json::value pod = asking("sharedx", R"("5")");
  const auto warned = admit(pod);
  EXPECT_TRUE(warned.allowed);
  ASSERT_EQ(warned.warnings.size(), 1u);
  EXPECT_TRUE(warned.warnings[0].starts_with("RES002: container \"a\""));
  const MutateOptions strict{.unknown_pool = UnknownPool::reject};
  expect_refusal(admit(pod, strict), "RES002", {"\"a\"", "\"sharedx\"", "5"}, "");
  const MutateOptions open{.unknown_pool = UnknownPool::allow};
  EXPECT_TRUE(admit(pod, open).warnings.empty());
}

TEST(RequestCodes, res003_rejects_more_than_any_node_has) {
  expect_refusal(admit(asking("cpupool1", R"("5")")), "RES003", {"\"a\"", "5", "cpupool1", "4"},
                 "");
  EXPECT_TRUE(admit(asking("cpupool1", R"("4")")).allowed);
  expect_refusal(admit(asking("sharedpool", R"("3001")")), "RES003",
                 {"\"a\"", "3001 thousandths", "nokia.k8s.io/sharedpool", "3000"}, "");
  EXPECT_TRUE(admit(asking("sharedpool", R"("3k")")).allowed);
}

TEST(RequestCodes, res003_adds_up_the_containers_of_a_pod) {
  const auto pod = [](std::string_view amounts) {
    std::string containers;
    for (std::string_view amount : split(amounts, ','))
      containers += fmt::format(
          R"({}{{"name":"c{}","resources":{{"limits":{{"nokia.k8s.io/sharedpool":"{}"}}}}}})",
          containers.empty() ? "" : ",", amount, amount);
    return containers;
  };
  expect_refusal(admit(pod_of(fmt::format(R"({{"containers":[{}]}})", pod("2000,1001")))), "RES003",
                 {"\"c1001\"", "3001", "3000"}, "");
  EXPECT_TRUE(admit(pod_of(fmt::format(R"({{"containers":[{}],"initContainers":[{}]}})",
                                       pod("2000,1000"), pod("3000"))))
                  .allowed)
      << "init containers run before the others";
}

TEST(RequestCodes, res003_counts_devices_of_larger_units) {
  PoolCatalog pools = sample_catalog();
  pools.pools["sharedpool"].shared_unit = 100;
  const auto most = mutate_pod(creation_of(asking("sharedpool", R"("30")")), pools, {});
  ASSERT_TRUE(most.allowed) << most.message;
  EXPECT_EQ(most.patch[0].at("value"), "3000m") << "thirty times 100m";
  expect_refusal(mutate_pod(creation_of(asking("sharedpool", R"("31")")), pools, {}), "RES003",
                 {"3100", "3000"}, "");
}

TEST(ReviewCodes, rev001_rejects_reviews_without_the_pod) {
  for (const char* operation : {"CREATE", "UPDATE"}) {
    auto review = creation_of(nullptr);
    review.operation = operation;
    expect_refusal(mutate_pod(review, sample_catalog(), {}), "REV001", {operation, "object"}, "");
    review.object = json::string("text");
    expect_refusal(mutate_pod(review, sample_catalog(), {}), "REV001", {operation, "object"}, "");
  }
  auto review = creation_of(pod_of(kSpec));
  review.operation = "UPDATE";
  expect_refusal(mutate_pod(review, sample_catalog(), {}), "REV001", {"UPDATE", "oldObject"}, "");
  review.operation = "DELETE";
  review.object = nullptr;
  EXPECT_TRUE(mutate_pod(review, sample_catalog(), {}).allowed) << "DELETE has no object";
}

TEST(VolumeCodes, vol001_rejects_other_volumes_of_the_same_name) {
  const auto with = [](std::string_view mounts, std::string_view volumes) {
    return admit(pod_of(fmt::format(
        R"({{"volumes":{},"containers":[{{"name":"a","command":["x"],"volumeMounts":{},
            "resources":{{"limits":{{"nokia.k8s.io/cpupool1":"1"}}}}}}]}})",
        volumes, mounts)));
  };
  expect_refusal(with(R"([{"name":"podinfo","mountPath":"/other"}])", "[]"), "VOL001",
                 {"\"a\"", "\"podinfo\"", "\"/other\""}, "");
  expect_refusal(with(R"([{"name":"mine","mountPath":"/etc/podinfo"}])", "[]"), "VOL001",
                 {"\"mine\""}, "");
  expect_refusal(with(R"([{"name":"hostbin","mountPath":"/opt/bin"}])", "[]"), "VOL001",
                 {"\"hostbin\""}, "");
  expect_refusal(with(R"([{"name":"podinfo","mountPath":"/etc/podinfo"}])", "[]"), "VOL001", {},
                 "writable");
  expect_refusal(with("[]", R"([{"name":"podinfo","emptyDir":{}}])"), "VOL001",
                 {"volume 0", "\"podinfo\""}, "");
  expect_refusal(with("[]", R"([{"name":"hostbin","hostPath":{"path":"/opt/bin"}}])"), "VOL001",
                 {"\"hostbin\""}, "");
}

}  // namespace
}  // namespace plim::pools
