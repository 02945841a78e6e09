#include "kube/decode.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/json.hpp"
#include "base/rfc3339.hpp"
#include "kube/selector.hpp"

namespace plim::kube {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kPod = R"({
  "kind": "Pod", "unknown": {"deep": [[[{"a": "]}\""}]]]},
  "metadata": {
    "name": "web-1", "namespace": "shop", "uid": "u-1", "resourceVersion": "77",
    "labels": {"app": "web", "gr\u00f6\u00dfe": "L"}, "annotations": {"note": "a \"b\"\n\u2713"},
    "creationTimestamp": "2026-03-04T05:06:07Z", "deletionTimestamp": null,
    "managedFields": [{"fieldsV1": {"f:metadata": {}}}],
    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web",
                         "uid": "u-0", "controller": true, "blockOwnerDeletion": true}],
    "generation": 3, "finalizers": ["example.com/a", "example.com/b"]
  },
  "spec": {
    "hostname": "h1", "subdomain": "net", "nodeName": "n1", "schedulerName": "default-scheduler", "priority": -5, "restartPolicy": "Never",
    "nodeSelector": {"disk": "ssd"} , "tolerations": [{"operator": "Exists"}],
    "initContainers": [{"name": "init", "image": "busybox", "restartPolicy": "Always"}],
    "containers": [
      {"name": "app", "image": "web:1", "imagePullPolicy": "Always", "ports": [{"containerPort": 80}], "resources": {"requests": {"cpu": "250m", "memory": "1Gi"},
       "limits": {"cpu": "1"}}},
      {"name": "proxy", "image": "envoy:2"}]
  },
  "status": {
    "phase": "Running", "podIP": "10.0.0.9", "hostIP": "10.0.0.1", "startTime": "2026-03-04T05:06:08Z",
    "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady",
                    "lastTransitionTime": "2026-03-04T05:06:09+01:00"}],
    "containerStatuses": [
      {"name": "app", "ready": true, "restartCount": 2, "containerID": "containerd://abc",
       "imageID": "web@sha256:1", "state": {"running": {"startedAt": "2026-03-04T05:06:10Z"}},
       "lastState": {"terminated": {"exitCode": 137, "signal": 9, "reason": "OOMKilled"}}},
      {"name": "proxy", "state": {"waiting": {"reason": "ImagePullBackOff"}}}],
    "initContainerStatuses": [
      {"name": "init", "state": {"terminated": {"exitCode": 3, "reason": "Error",
       "startedAt": "2026-03-04T05:06:07Z", "finishedAt": "2026-03-04T05:06:08Z"}}}]
  }
})";

Result<Pod> pod_from(std::string text) {
  InternPool pool;
  return decode_pod(JsonText(text), pool);
}

std::string mistake(std::string text) {
  auto pod = pod_from(std::move(text));
  return pod ? "accepted" : pod.error().message;
}

TEST(DecodePod, fills_every_field) {
  auto pod = pod_from(std::string(kPod));
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->meta.name, "web-1");
  EXPECT_EQ(pod->meta.ns, "shop");
  EXPECT_EQ(pod->meta.resource_version, "77");
  EXPECT_EQ(find_label(pod->meta.labels, "größe"), "L");
  ASSERT_EQ(pod->meta.annotations.size(), 1u);
  EXPECT_EQ(pod->meta.annotations[0].second, "a \"b\"\n\u2713");
  EXPECT_EQ(pod->meta.created, *parse_rfc3339("2026-03-04T05:06:07Z"));
  EXPECT_FALSE(pod->meta.deleted);
  ASSERT_EQ(pod->meta.owners.size(), 1u);
  EXPECT_TRUE(pod->meta.owners[0].controller);
  EXPECT_TRUE(pod->meta.owners[0].block_owner_deletion);
  EXPECT_EQ(pod->meta.owners[0].kind, "ReplicaSet");
  EXPECT_EQ(pod->meta.generation, 3);
  ASSERT_EQ(pod->meta.finalizers.size(), 2u);
  EXPECT_EQ(pod->meta.finalizers[1], "example.com/b");
  EXPECT_EQ(pod->spec.hostname, "h1");
  EXPECT_EQ(pod->spec.subdomain, "net");
  EXPECT_EQ(json::parse(pod->spec.containers.at(0).ports.view()),
            json::parse(R"([{"containerPort":80}])"));

  EXPECT_EQ(pod->spec.node_name, "n1");
  EXPECT_EQ(pod->spec.priority, -5);
  EXPECT_EQ(pod->spec.restart_policy, "Never");
  EXPECT_EQ(json::parse(pod->spec.node_selector.view()), json::parse(R"({"disk":"ssd"})"));
  EXPECT_EQ(json::parse(pod->spec.tolerations.view()), json::parse(R"([{"operator":"Exists"}])"));
  EXPECT_TRUE(pod->spec.affinity.empty());
  ASSERT_EQ(pod->spec.containers.size(), 2u);
  EXPECT_EQ(pod->spec.containers[0].image, "web:1");
  EXPECT_EQ(pod->spec.containers[0].image_pull_policy, "Always");
  EXPECT_EQ(pod->spec.containers[1].image_pull_policy, "");
  EXPECT_EQ(find_label(pod->spec.containers[0].requests, "memory"), "1Gi");
  EXPECT_EQ(find_label(pod->spec.containers[0].limits, "cpu"), "1");
  ASSERT_EQ(pod->spec.init_containers.size(), 1u);
  EXPECT_EQ(pod->spec.init_containers[0].restart_policy, "Always");

  using State = ContainerStatus::State;
  EXPECT_EQ(pod->status.phase, "Running");
  EXPECT_EQ(pod->status.pod_ip, "10.0.0.9");
  ASSERT_EQ(pod->status.conditions.size(), 1u);
  EXPECT_EQ(pod->status.conditions[0].last_transition, *parse_rfc3339("2026-03-04T04:06:09Z"));
  ASSERT_EQ(pod->status.containers.size(), 2u);
  const ContainerStatus& app = pod->status.containers[0];
  EXPECT_EQ(app.state, State::running);
  EXPECT_EQ(app.restarts, 2);
  EXPECT_EQ(app.last_terminated.exit_code, 137);
  EXPECT_EQ(app.last_terminated.reason, "OOMKilled");
  EXPECT_EQ(app.container_id, "containerd://abc");
  EXPECT_EQ(pod->status.containers[1].waiting_reason, "ImagePullBackOff");
  EXPECT_EQ(pod->status.init_containers[0].state, State::terminated);
  EXPECT_EQ(pod->status.init_containers[0].terminated.exit_code, 3);
}

TEST(DecodePod, keeps_what_a_scheduler_reads) {
  auto pod = pod_from(R"({"spec": {
    "preemptionPolicy": "Never", "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "4"}},
    "schedulingGates": [{"name": "a"}], "resourceClaims": [{"name": "gpu"}],
    "volumes": [{"name": "token", "projected": {"sources": []}}, {"name": "scratch", "emptyDir": {}},
      {"name": "data", "persistentVolumeClaim": {"claimName": "c1"}},
      {"name": "own", "ephemeral": {"volumeClaimTemplate": {}}},
      {"name": "model", "image": {"reference": "models/a:1"}},
      {"name": "old", "rbd": {"image": "i"}}]},
    "status": {"containerStatuses": [{"name": "a", "allocatedResources": {"cpu": "1"},
      "resources": {"requests": {"cpu": "3"}}}, {"name": "b"}],
      "allocatedResources": {"cpu": "5"}, "resources": {"requests": {"cpu": "6"}}}})");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->spec.preemption_policy, "Never");
  EXPECT_EQ(find_label(pod->spec.requests, "cpu"), "2");
  EXPECT_EQ(find_label(pod->spec.limits, "cpu"), "4");
  EXPECT_EQ(find_label(pod->status.allocated, "cpu"), "5");
  EXPECT_EQ(find_label(pod->status.requests, "cpu"), "6");
  EXPECT_TRUE(pod->status.reports_resources);
  EXPECT_EQ(pod->spec.scheduling_gates.view(), R"([{"name": "a"}])");
  EXPECT_EQ(pod->spec.resource_claims.view(), R"([{"name": "gpu"}])");
  ASSERT_EQ(pod->spec.volumes.size(), 4u);
  EXPECT_EQ(pod->spec.volumes[0].claim, "c1");
  EXPECT_EQ(pod->spec.volumes[1].name, "own");
  EXPECT_TRUE(pod->spec.volumes[1].ephemeral);
  EXPECT_EQ(pod->spec.volumes[2].image, "models/a:1");
  EXPECT_EQ(pod->spec.volumes[3].disk.view(), R"({"rbd":{"image": "i"}})");
  EXPECT_TRUE(pod->status.containers.at(0).reports_resources);
  EXPECT_EQ(find_label(pod->status.containers[0].requests, "cpu"), "3");
  EXPECT_EQ(find_label(pod->status.containers[0].allocated, "cpu"), "1");
  EXPECT_FALSE(pod->status.containers.at(1).reports_resources);
}

TEST(DecodePod, names_the_field_of_a_wrong_type) {
  EXPECT_EQ(mistake(R"({"metadata":{"name":5}})"), "metadata.name: expected a string");
  EXPECT_EQ(mistake(R"({"spec":{"containers":[{"name":"a"},{"image":{}}]}})"),
            "spec.containers[1].image: expected a string");
  EXPECT_EQ(mistake(R"({"metadata":{"labels":{"app":true}}})"),
            "metadata.labels.app: expected a string");
  EXPECT_EQ(mistake(R"({"spec":{"containers":{}}})"), "spec.containers: expected a list");
  EXPECT_EQ(mistake(R"({"spec":[]})"), "spec: expected an object");
  EXPECT_EQ(mistake(R"({"spec":{"priority":"high"}})"), "spec.priority: expected an integer");
  EXPECT_EQ(mistake(R"({"spec":{"hostNetwork":1}})"), "spec.hostNetwork: expected true or false");
  EXPECT_EQ(mistake(R"({"spec":{"affinity":"none"}})"),
            "spec.affinity: expected an object or a list");
  EXPECT_THAT(mistake(R"({"metadata":{"creationTimestamp":"yesterday"}})"),
              HasSubstr("metadata.creationTimestamp: expected a time"));
  EXPECT_THAT(mistake(R"({"status":{"containerStatuses":[{"restartCount":3000000000}]}})"),
              HasSubstr("status.containerStatuses[0].restartCount: expected an integer"));
}

TEST(DecodePod, refuses_broken_documents) {
  for (auto text : {"",
                    " ",
                    "null",
                    "[]",
                    "5",
                    "{",
                    R"({"metadata")",
                    R"({"metadata":{}}})",
                    R"({"metadata":{}} x)",
                    R"({"metadata":{"name":"\ud800"}})",
                    "{\"a\":\"\x01\"}",
                    R"({"metadata":{"name":"a" "uid":"b"}})",
                    "{\"metadata\":{\"name\":\"\xff\"}}",
                    R"({"a":})",
                    R"({"a":,})",
                    R"({"a":1,})",
                    R"({"a"})",
                    R"({"a":[})",
                    R"({a:1})",
                    R"({"metadata":{"name":"\udc00"}})",
                    R"({"metadata":{"name":"\u12"}})",
                    R"({"metadata":{"name":"\x"}})",
                    R"({"\q":1})",
                    R"({"spec":{"containers":[{},]}})",
                    R"({"spec":{"priority":1x}})",
                    R"({"spec":{"hostNetwork":truex}})"})
    EXPECT_NE(mistake(text), "accepted") << text;
}

TEST(DecodePod, reads_escapes_in_keys_and_texts) {
  auto pod =
      pod_from(R"({"meta\u0064ata" : {"n\u0061me" : "\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00" }})");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->meta.name, "\"\\/\b\f\n\r\t\u00e9\U0001f600");
}

TEST(DecodePod, nulls_are_absent_and_the_last_of_equal_keys_wins) {
  auto pod = pod_from(R"({"metadata":null,"spec":{"containers":[{"name":"a"}],"containers":[],
      "nodeName":"x","nodeName":"y","affinity":null,"priority":null},"status":{"phase":null}})");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_TRUE(pod->spec.containers.empty());
  EXPECT_EQ(pod->spec.node_name, "y");
}

TEST(DecodePod, deep_nesting_of_unknown_fields_is_skipped) {
  std::string deep(100'000, '[');
  std::string text =
      R"({"x":)" + deep + std::string(deep.size(), ']') + R"(,"spec":{"nodeName":"n"}})";
  auto pod = pod_from(std::move(text));
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->spec.node_name, "n");
}

RC_GTEST_PROP(DecodePod, reads_back_any_text, (const std::string& bytes)) {
  std::string ascii = bytes;
  for (char& c : ascii) c = static_cast<char>(c & 0x7f);
  json::value object = {{"metadata", {{"name", ascii}, {"labels", {{ascii, ascii}}}}}};
  auto pod = pod_from(json::serialize(object));
  RC_ASSERT(bool(pod));
  RC_ASSERT(pod->meta.name == ascii);
  RC_ASSERT(pod->meta.labels.at(0).first == std::string_view(ascii));
}

TEST(DecodeNode, fills_every_field) {
  std::string text = R"({"metadata":{"name":"n1","labels":{"zone":"a"}},
    "spec":{"unschedulable":true,"providerID":"p","taints":[{"key":"k","value":"v","effect":"NoExecute"}]},
    "status":{"capacity":{"cpu":"8"},"allocatable":{"cpu":"7500m","memory":"16Gi"},
      "images":[{"names":["a@sha256:1","a:1"],"sizeBytes":5000000000}],
      "conditions":[{"type":"Ready","status":"True"}],
      "addresses":[{"type":"InternalIP","address":"10.0.0.1"}],
      "nodeInfo":{"architecture":"amd64","kubeletVersion":"v1.37.0","machineID":"m"},
      "declaredFeatures":["A","B"]}})";
  InternPool pool;
  auto node = decode_node(JsonText(text), pool);
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_TRUE(node->unschedulable);
  EXPECT_EQ(node->taints.at(0).effect, "NoExecute");
  EXPECT_EQ(find_label(node->allocatable, "cpu"), "7500m");
  EXPECT_EQ(node->images.at(0).names.at(1), "a:1");
  EXPECT_EQ(node->images.at(0).bytes, 5'000'000'000);
  EXPECT_EQ(node->addresses.at(0).address, "10.0.0.1");
  EXPECT_EQ(node->info.kubelet, "v1.37.0");
  EXPECT_EQ(node->declared_features.at(1), "B");
}

TEST(DecodeList, visits_items_and_reads_the_metadata) {
  std::string text = R"({"kind":"PodList","metadata":{"resourceVersion":"9","continue":"t",
      "remainingItemCount":7},"items":[{"metadata":{"name":"a"}} , {"metadata":{"name":"b"}}]})";
  std::vector<std::string> names;
  InternPool pool;
  auto meta =
      decode_pods(JsonText(text), pool, [&](const std::shared_ptr<const Pod>& pod) -> Result<void> {
        names.push_back(pod->meta.name);
        return {};
      });
  ASSERT_TRUE(meta) << meta.error().message;
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(meta->resource_version, "9");
  EXPECT_EQ(meta->continue_token, "t");
  EXPECT_EQ(meta->remaining, 7);

  names.clear();
  auto again = decode_list(JsonText(text), [&](JsonText item) -> Result<void> {
    PLIM_TRY(ObjectMeta one, decode_meta(item, pool));
    names.push_back(one.name);
    return {};
  });
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b"}));
}

TEST(DecodeList, names_the_bad_item_and_hands_back_the_visitors_error) {
  std::string text = R"({"items":[{},{"spec":{"nodeName":1}}]})";
  InternPool pool;
  auto ignore = [](const std::shared_ptr<const Pod>&) -> Result<void> { return {}; };
  EXPECT_EQ(decode_pods(JsonText(text), pool, ignore).error().message,
            "items[1].spec.nodeName: expected a string");
  auto refuse = [](JsonText) -> Result<void> { return fail(Code::internal, "enough"); };
  EXPECT_EQ(decode_list(JsonText(text), refuse).error().message, "items[0]: enough");
  std::string scalar = R"({"items":[5]})";
  EXPECT_FALSE(decode_pods(JsonText(scalar), pool, ignore));
  std::string none = R"({"items":null,"metadata":{}})";
  EXPECT_TRUE(decode_pods(JsonText(none), pool, ignore));
}

// Compact, as servers write, and longer than what is looked at in one go: notes that look like the
// end of an item, or end like one, stand at every place where a part could be cut off.
std::string long_list(std::size_t pods, std::size_t note_size) {
  std::string note;
  while (note.size() < note_size) note += R"(},{"a},{)";
  std::string out = R"({"kind":"PodList","items":[)";
  for (std::size_t i = 0; i < pods; ++i)
    out += fmt::format(R"({}{{"metadata":{{"name":"p{}","annotations":{{"note":{},"b":"x"}}}}}})",
                       i ? "," : "", i, json::serialize(json::value(note + "},{")));
  return out + R"(],"metadata":{"resourceVersion":"9"}})";
}

std::vector<std::string> names_in(std::string& list, InternPool& pool) {
  std::vector<std::string> names;
  auto meta =
      decode_pods(JsonText(list), pool, [&](const std::shared_ptr<const Pod>& p) -> Result<void> {
        names.push_back(p->meta.name);
        return {};
      });
  EXPECT_TRUE(meta) << meta.error().message;
  EXPECT_TRUE(meta && meta->resource_version == "9");
  return names;
}

TEST(DecodeList, long_lists_are_read_to_the_end) {
  InternPool pool;
  for (auto [pods, note] : {std::pair(1, 2'000'000), {3, 700'000}, {900, 1500}, {20'000, 8}}) {
    std::string list = long_list(std::size_t(pods), std::size_t(note));
    std::vector<std::string> names = names_in(list, pool);
    ASSERT_EQ(names.size(), std::size_t(pods));
    for (std::size_t i = 0; i < names.size(); ++i) ASSERT_EQ(names[i], fmt::format("p{}", i));
  }
}

TEST(DecodeList, names_a_mistake_far_into_the_list) {
  InternPool pool;
  auto ignore = [](const std::shared_ptr<const Pod>&) -> Result<void> { return {}; };
  std::string list = long_list(900, 1500);
  std::string wrong = list;
  wrong.replace(wrong.find(R"("p777")"), 6, "123456");
  EXPECT_EQ(decode_pods(JsonText(wrong), pool, ignore).error().message,
            "items[777].metadata.name: expected a string");
  for (std::size_t cut : {list.size() - 1, list.size() - 40, list.size() / 2, list.size() / 3}) {
    std::string early = list.substr(0, cut);
    EXPECT_FALSE(decode_pods(JsonText(early), pool, ignore)) << cut;
  }
  std::string more = list + "{}";
  EXPECT_FALSE(decode_pods(JsonText(more), pool, ignore));
  std::string no_text = list;
  no_text[list.size() - 300'000] = '\xff';
  EXPECT_THAT(decode_pods(JsonText(no_text), pool, ignore).error().message, HasSubstr("UTF-8"));
}

TEST(DecodeList, asks_a_visitor_once_for_each_item) {
  std::string list = long_list(900, 1500);
  std::size_t asked = 0;
  auto refuse = [&](JsonText) -> Result<void> {
    if (++asked == 500) return fail(Code::internal, "enough");
    return {};
  };
  EXPECT_EQ(decode_list(JsonText(list), refuse).error().message, "items[499]: enough");
  EXPECT_EQ(asked, 500u);
}

Result<WatchEvent> event_from(std::string& text) {
  return decode_watch_event(JsonText(text));
}

TEST(DecodeWatchEvent, reads_objects_bookmarks_and_errors) {
  using Type = WatchEvent::Type;
  std::string added =
      R"({"type":"ADDED","object":{"code":{},"metadata":{"name":"a","resourceVersion":"5"}} })";
  auto event = event_from(added);
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->type, Type::added);
  EXPECT_EQ(event->resource_version, "5");
  EXPECT_EQ(json::parse(event->object).at("metadata").at("name"), "a");

  std::string end = R"({"object":{"metadata":{"resourceVersion":"6","annotations":{
      "k8s.io/initial-events-end":"true"}}},"type":"BOOKMARK"})";
  event = event_from(end);
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->type, Type::bookmark);
  EXPECT_TRUE(event->initial_events_end);

  std::string gone = R"({"type":"ERROR","object":{"kind":"Status","metadata":{},"status":"Failure",
      "message":"too old","reason":"Expired","code":410}})";
  event = event_from(gone);
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->error.code, Code::expired);
  EXPECT_EQ(event->error.message, "too old");
}

TEST(DecodeWatchEvent, rejects_objects_that_are_not_events) {
  for (std::string text :
       {R"({"type":"ADDED"})", R"({"object":{}})", R"({"type":"NEW","object":{}})",
        R"({"type":"ADDED","object":[]})", R"({"type":"ADDED","object":{)",
        R"({"type":"ADDED","object":{"metadata":{"resourceVersion":5}}})"})
    EXPECT_FALSE(event_from(text)) << text;
}

}  // namespace
}  // namespace plim::kube
