#include "local/controllers/endpoints_plan.hpp"

#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "local/controllers/testing/sample_objects.hpp"

namespace plim::local::controllers {
namespace {

ObjectPointer service(std::string_view ports = R"([{"port":80,"targetPort":8080}])") {
  return testing::object_from_text(fmt::format(
      R"({{"metadata":{{"name":"web","namespace":"ns","uid":"s","labels":{{"team":"a"}}}},
           "spec":{{"selector":{{"app":"web"}},"ports":{}}}}})",
      ports));
}

PodPointer pod(int number, bool ready = true, std::string_view more = "{}") {
  auto parsed = parse_json(more);
  PLIM_ASSERT(parsed);
  json::value out = *parsed;
  json::object& metadata = make_object(out, {"metadata"});
  metadata["name"] = fmt::format("p{}", number);
  metadata["namespace"] = "ns";
  metadata["uid"] = fmt::format("u{:04}", number);
  make_object(out, {"spec"})["nodeName"] = "n1";
  json::object& status = make_object(out, {"status"});
  if (!status.contains("phase")) status["phase"] = "Running";
  status["podIP"] = fmt::format("127.32.1.{}", number);
  json::object condition{{"type", "Ready"}, {"status", ready ? "True" : "False"}};
  status["conditions"] = json::array{condition};
  return testing::pod_from(out);
}

std::vector<ObjectPointer> stored(const SlicePlan& plan) {
  std::vector<ObjectPointer> out;
  for (json::value slice : plan.create) {
    make_object(slice, {"metadata"})["name"] = fmt::format("web-{}", out.size());
    out.push_back(testing::object_from(slice));
  }
  return out;
}

TEST(Endpoints, separate_ready_and_other_addresses) {
  const json::value made = endpoints_of(*service(), {pod(2), pod(1, false)}, nullptr);
  EXPECT_EQ(made.at("subsets"), json::parse(R"([{
      "addresses":[{"ip":"127.32.1.2","nodeName":"n1",
        "targetRef":{"kind":"Pod","namespace":"ns","name":"p2","uid":"u0002"}}],
      "notReadyAddresses":[{"ip":"127.32.1.1","nodeName":"n1",
        "targetRef":{"kind":"Pod","namespace":"ns","name":"p1","uid":"u0001"}}],
      "ports":[{"port":8080,"protocol":"TCP"}]}])"));
  EXPECT_EQ(kube::label_of(made, "team"), "a");
}

TEST(Endpoints, omit_pods_that_have_ended_or_are_being_deleted) {
  auto ended = pod(1, false, R"({"status":{"phase":"Succeeded"}})");
  auto going = pod(2, true, R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}})");
  EXPECT_FALSE(find(endpoints_of(*service(), {ended, going}, nullptr), {"subsets"}));
}

TEST(Endpoints, find_named_ports_in_each_pod) {
  auto named = service(R"([{"name":"http","port":80,"targetPort":"web"}])");
  auto one = pod(1, true, R"({"spec":{"containers":[{"name":"c","ports":[
      {"name":"web","containerPort":8080}]}]}})");
  auto other = pod(2, true, R"({"spec":{"containers":[{"name":"c","ports":[
      {"name":"web","containerPort":9090}]}]}})");
  auto without = pod(3);
  const json::value made = endpoints_of(*named, {one, other, without}, nullptr);
  ASSERT_EQ(made.at("subsets").as_array().size(), 2u);
  EXPECT_EQ(made.at("subsets").at(0).at("ports").at(0).at("port"), json::value(8080));
  EXPECT_EQ(made.at("subsets").at(1).at("ports").at(0).at("port"), json::value(9090));
}

TEST(Endpoints, have_a_thousand_addresses_at_most) {
  std::vector<PodPointer> pods;
  for (int i = 1; i <= 1100; ++i) pods.push_back(pod(i));
  const json::value made = endpoints_of(*service(), pods, nullptr);
  EXPECT_EQ(made.at("subsets").at(0).at("addresses").as_array().size(), kMaxEndpoints);
  EXPECT_EQ(kube::annotation_of(made, "endpoints.kubernetes.io/over-capacity"), "truncated");
  pods.resize(1000);
  EXPECT_EQ(kube::annotation_of(endpoints_of(*service(), pods, &made),
                                "endpoints.kubernetes.io/over-capacity"),
            "");
}

TEST(EndpointSlices, hold_a_hundred_each) {
  std::vector<PodPointer> pods;
  for (int i = 1; i <= 150; ++i) pods.push_back(pod(i));
  SlicePlan plan = plan_slices(*service(), pods, {});
  ASSERT_EQ(plan.create.size(), 2u);
  EXPECT_EQ(plan.create[0].at("endpoints").as_array().size(), 100u);
  EXPECT_EQ(plan.create[1].at("endpoints").as_array().size(), 50u);
  EXPECT_EQ(kube::label_of(plan.create[0], kServiceName), "web");
  EXPECT_TRUE(kube::is_controlled_by(plan.create[0], "s"));
}

TEST(EndpointSlices, change_only_where_something_changed) {
  std::vector<PodPointer> pods;
  for (int i = 1; i <= 150; ++i) pods.push_back(pod(i));
  auto present = stored(plan_slices(*service(), pods, {}));
  SlicePlan nothing = plan_slices(*service(), pods, present);
  EXPECT_TRUE(nothing.create.empty() && nothing.update.empty() && nothing.remove.empty());
  pods[0] = pod(1, false);
  SlicePlan one = plan_slices(*service(), pods, present);
  EXPECT_EQ(one.update.size(), 1u);
  pods.resize(100);  // the second slice is empty now
  SlicePlan less = plan_slices(*service(), pods, present);
  EXPECT_EQ(less.remove.size(), 1u);
}

TEST(EndpointSlices, there_is_always_one) {
  SlicePlan empty = plan_slices(*service(), {}, {});
  ASSERT_EQ(empty.create.size(), 1u);
  auto present = stored(empty);
  SlicePlan again = plan_slices(*service(), {}, present);
  EXPECT_TRUE(again.create.empty() && again.update.empty() && again.remove.empty());
  SlicePlan filled = plan_slices(*service(), {pod(1)}, present);
  EXPECT_EQ(filled.create.size(), 1u);
  EXPECT_EQ(filled.remove.size(), 1u);
}

TEST(EndpointSlices, keep_terminating_pods_as_serving) {
  auto going = pod(2, true, R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}})");
  SlicePlan plan = plan_slices(*service(), {going}, {});
  EXPECT_EQ(to_json(plan.create.at(0).at("endpoints").at(0).at("conditions")),
            R"({"ready":false,"serving":true,"terminating":true})");
}

}  // namespace
}  // namespace plim::local::controllers
