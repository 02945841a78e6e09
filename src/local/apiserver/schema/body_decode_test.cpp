#include "local/apiserver/schema/body_decode.hpp"

#include <array>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "local/apiserver/schema/testing/random_object.hpp"

namespace plim::local::apiserver {
namespace {

struct Decoded {
  json::value object;
  FieldMistakes mistakes;
  std::string error;
};

Decoded decode(std::string_view group, std::string_view kind, std::string_view text) {
  Decoded out;
  auto body = parse_body(text, out.mistakes);
  if (!body) {
    EXPECT_EQ(body.error().code, Code::bad_request);
    out.error = body.error().message;
    return out;
  }
  out.object = std::move(*body);
  auto done = conform(*find_type(group, "v1", kind), out.object, out.mistakes);
  if (!done) {
    EXPECT_EQ(done.error().code, Code::bad_request);
    out.error = done.error().message;
  }
  return out;
}

std::string conformed(std::string_view group, std::string_view kind, std::string_view text) {
  Decoded decoded = decode(group, kind, text);
  EXPECT_EQ(decoded.error, "");
  return to_json(decoded.object);
}

std::string error_of(std::string_view group, std::string_view kind, std::string_view text) {
  return decode(group, kind, text).error;
}

TEST(Decode, drops_unknown_fields_and_notes_them) {
  Decoded pod =
      decode("", "Pod", R"({"spec": {"foo": 1, "containers": [{"name": "c", "Image": "x"}]},
                                       "metadata": {"name": "p"}, "bar": {"x": 1}})");
  EXPECT_EQ(pod.mistakes, (FieldMistakes{R"(unknown field "spec.foo")",
                                         R"(unknown field "spec.containers[0].Image")",
                                         R"(unknown field "bar")"}));
  EXPECT_EQ(to_json(pod.object),
            R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","resources":{}}]},)"
            R"("status":{}})");
}

TEST(Decode, notes_duplicates_once) {
  Decoded pod = decode("", "ConfigMap", R"({"data": {"a": "1", "\u0061": "2", "a": "3"},
       "metadata": {"name": "x", "name": "y", "ownerReferences": [{"uid": "1"}, {"uid": "2", "uid": "3"}]}})");
  EXPECT_EQ(pod.mistakes,
            (FieldMistakes{R"(duplicate field "data.a")", R"(duplicate field "metadata.name")",
                           R"(duplicate field "metadata.ownerReferences[1].uid")"}));
  EXPECT_EQ(text_at(pod.object, {"data", "a"}), "3");
}

TEST(Decode, handles_braces_and_commas_inside_strings) {
  Decoded map = decode("", "ConfigMap", R"({"data": {"a": "{,\"a\":\\", "b": "],", "c": "a"}})");
  EXPECT_TRUE(map.mistakes.empty());
}

TEST(Decode, treats_null_as_unset) {
  EXPECT_EQ(
      conformed("", "ConfigMap", R"({"metadata": {"name": "m", "labels": null}, "data": null})"),
      R"({"metadata":{"name":"m"}})");
  EXPECT_EQ(conformed("", "ConfigMap", R"({"data": {"a": null}})"),
            R"({"metadata":{},"data":{"a":""}})");
}

TEST(Decode, writes_quantities_in_canonical_form) {
  EXPECT_EQ(conformed("", "Node", R"({"status": {"capacity":
      {"memory": "1024Mi", "cpu": 0.1, "a.b/c": "1000m", "pods": 110}}})"),
            R"({"metadata":{},"spec":{},"status":{"capacity":{"a.b/c":"1","cpu":"100m",)"
            R"("memory":"1Gi","pods":"110"},"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},)"
            R"("nodeInfo":{"machineID":"","systemUUID":"","bootID":"","kernelVersion":"",)"
            R"("osImage":"","containerRuntimeVersion":"","kubeletVersion":"",)"
            R"("kubeProxyVersion":"","operatingSystem":"","architecture":""}}})");
}

TEST(Decode, writes_times_in_canonical_form) {
  EXPECT_EQ(conformed("coordination.k8s.io", "Lease",
                      R"({"spec": {"renewTime": "2024-01-02T03:04:05Z"},
                          "metadata": {"creationTimestamp": "2024-01-02T05:04:05.25+02:00"}})"),
            R"({"metadata":{"creationTimestamp":"2024-01-02T03:04:05Z"},)"
            R"("spec":{"renewTime":"2024-01-02T03:04:05.000000Z"}})");
  EXPECT_EQ(conformed("", "ConfigMap", R"({"metadata": {"creationTimestamp": null}})"),
            R"({"metadata":{}})");
}

TEST(Decode, omits_empty_values_as_go_does) {
  EXPECT_EQ(conformed("apps", "ReplicaSet", R"({"spec": {"replicas": 0, "minReadySeconds": 0,
        "template": {"spec": {"hostNetwork": false, "volumes": [{"name": "v", "emptyDir": {}}],
        "nodeSelector": {}, "containers": []}}}})"),
            R"({"metadata":{},"spec":{"replicas":0,"template":{"metadata":{},)"
            R"("spec":{"volumes":[{"name":"v","emptyDir":{}}],"containers":[]}}},)"
            R"("status":{"replicas":0}})");
}

TEST(Decode, prints_what_go_always_prints) {
  EXPECT_EQ(conformed("", "Service", R"({"metadata": {"name": "s"}, "kind": "Service"})"),
            R"({"kind":"Service","metadata":{"name":"s"},"spec":{},"status":{"loadBalancer":{}}})");
}

TEST(Decode, words_wrong_types_as_upstream) {
  EXPECT_EQ(error_of("", "Pod", R"({"spec": {"containers": "x"}})"),
            "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type "
            "[]v1.Container");
  EXPECT_EQ(error_of("", "Pod", R"({"spec": {"containers": [{"image": 1}]}})"),
            "json: cannot unmarshal number into Go struct field Container.spec.containers.image of "
            "type string");
  EXPECT_EQ(error_of("", "Pod", R"({"metadata": {"labels": {"a": true}}})"),
            "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type "
            "string");
  EXPECT_EQ(error_of("apps", "Deployment", R"({"spec": {"replicas": 3000000000}})"),
            "json: cannot unmarshal number 3000000000 into Go struct field "
            "DeploymentSpec.spec.replicas of type int32");
  EXPECT_EQ(error_of("apps", "Deployment", R"({"spec": {"replicas": 1.5}})"),
            "json: cannot unmarshal number 1.5 into Go struct field "
            "DeploymentSpec.spec.replicas of type int32");
  EXPECT_EQ(error_of("", "Pod", "[]"), "json: cannot unmarshal array into Go value of type v1.Pod");
}

TEST(Decode, rejects_values_that_do_not_parse) {
  EXPECT_NE(error_of("", "Node", R"({"status": {"capacity": {"cpu": "lots"}}})").find("quantities"),
            std::string::npos);
  EXPECT_NE(error_of("", "Node", R"({"status": {"capacity": {"cpu": {}}}})").find("quantities"),
            std::string::npos);
  EXPECT_NE(error_of("", "Secret", R"({"data": {"a": "?"}})").find("illegal base64"),
            std::string::npos);
  EXPECT_EQ(error_of("", "Pod", R"({"metadata": {"creationTimestamp": "now"}})"),
            R"(parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006")");
  EXPECT_NE(error_of("", "Service", R"({"spec": {"ports": [{"targetPort": true}]}})"), "");
}

TEST(Decode, rejects_text_that_is_not_json) {
  EXPECT_NE(error_of("", "Pod", "{bad"), "");
  EXPECT_NE(error_of("", "Pod", ""), "");
  EXPECT_NE(error_of("", "Pod", "{} {}"), "");
  EXPECT_NE(error_of("", "ConfigMap", "{\"data\": {\"a\": \"\xff\"}}"), "");
}

TEST(Decode, notes_at_most_a_hundred_mistakes) {
  std::string text = "{";
  for (int i = 0; i < 300; ++i) text += "\"x" + std::to_string(i) + "\": 1, ";
  EXPECT_EQ(decode("", "Pod", text + "\"y\": 1}").mistakes.size(), 100u);
}

const Type& some_type(std::uint32_t seed) {
  const std::array types = {find_type("", "v1", "Pod"), find_type("", "v1", "Service"),
                            find_type("", "v1", "Node"), find_type("apps", "v1", "Deployment"),
                            find_type("batch", "v1", "CronJob")};
  return *types[seed % types.size()];
}

RC_GTEST_PROP(Decode, conforming_twice_changes_nothing, ()) {
  auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const Type& type = some_type(seed);
  json::value once = testing::random_object(type, seed, testing::Garbage::none);
  FieldMistakes mistakes;
  auto done = conform(type, once, mistakes);
  RC_ASSERT(done.has_value());
  RC_ASSERT(mistakes.empty());
  json::value twice = once;
  RC_ASSERT(conform(type, twice, mistakes).has_value());
  RC_ASSERT(to_json(twice) == to_json(once));
}

RC_GTEST_PROP(Decode, garbage_is_an_error_or_an_object, ()) {
  auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const Type& type = some_type(seed);
  FieldMistakes mistakes;
  std::string text = to_json(testing::random_object(type, seed, testing::Garbage::some));
  auto body = parse_body(text, mistakes);
  RC_ASSERT(body.has_value());
  if (!conform(type, *body, mistakes)) return;
  RC_ASSERT(body->is_object());
  mistakes.clear();
  RC_ASSERT(conform(type, *body, mistakes).has_value());
  RC_ASSERT(mistakes.empty());
}

}  // namespace
}  // namespace plim::local::apiserver
