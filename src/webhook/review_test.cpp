#include "webhook/review.hpp"

#include <gtest/gtest.h>

#include "base/base64.hpp"

namespace plim::webhook {
namespace {

TEST(AdmissionReview, is_parsed_with_what_a_mutator_needs) {
  const auto review =
      read_review(R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview",
      "request":{"uid":"u-1","resource":{"group":"","version":"v1","resource":"pods"},
      "subResource":"status","namespace":"n","name":"p","operation":"UPDATE","dryRun":true,
      "object":{"a":1},"oldObject":{"a":2}}})");
  ASSERT_TRUE(review) << review.error().message;
  EXPECT_EQ(review->api_version, "admission.k8s.io/v1beta1");
  EXPECT_EQ(review->uid + review->resource + review->subresource, "u-1podsstatus");
  EXPECT_EQ(review->ns + "/" + review->name + review->operation, "n/pUPDATE");
  EXPECT_TRUE(review->dry_run);
  EXPECT_EQ(review->object.at("a"), 1);
  EXPECT_EQ(review->old_object.at("a"), 2);
}

TEST(AdmissionReview, without_a_request_is_rejected) {
  for (const char* text : {"", "{", "[]", "1", "{}", R"({"request":[]})", R"({"request":null})"}) {
    const auto review = read_review(text);
    ASSERT_FALSE(review) << text;
    EXPECT_EQ(review.error().code, Code::bad_request) << text;
  }
  EXPECT_TRUE(read_review(R"({"request":{}})"));  // missing members are empty
}

json::value answer_to(const char* version, const kube::AdmissionAnswer& answer) {
  kube::AdmissionReview review;
  review.api_version = version;
  review.uid = "u";
  return *parse_json(write_review(review, answer));
}

TEST(AdmissionReview, is_answered_in_its_own_version) {
  for (const char* version : {"admission.k8s.io/v1", "admission.k8s.io/v1beta1"}) {
    const json::value said = answer_to(version, {});
    EXPECT_EQ(to_json(said),
              std::string(R"({"apiVersion":")") + version +
                  R"(","kind":"AdmissionReview","response":{"uid":"u","allowed":true}})");
  }
}

TEST(AdmissionReview, has_patch_and_its_type_together) {
  kube::AdmissionAnswer answer;
  answer.patch = {json::object{{"op", "remove"}, {"path", "/x"}}};
  const json::value said = answer_to("admission.k8s.io/v1", answer);
  EXPECT_EQ(text_at(said, {"response", "patchType"}), "JSONPatch");
  EXPECT_EQ(*base64_decode(text_at(said, {"response", "patch"})),
            R"([{"op":"remove","path":"/x"}])");
}

TEST(AdmissionReview, contains_the_reason_of_a_rejection) {
  kube::AdmissionAnswer answer{.allowed = false, .code = "ANN001", .message = "ANN001: \"x\""};
  answer.patch = {json::object()};
  const json::value said = answer_to("admission.k8s.io/v1", answer);
  EXPECT_EQ(to_json(said.at("response")),
            R"({"uid":"u","allowed":false,"status":{"status":"Failure","message":"ANN001: \"x\"",)"
            R"("reason":"Invalid","code":422}})");
}

TEST(AdmissionReview, cuts_long_warnings_between_characters) {
  kube::AdmissionAnswer answer;
  answer.warnings = {std::string(119, 'x') + "ü", "short"};
  const json::value said = answer_to("admission.k8s.io/v1", answer);
  EXPECT_EQ(said.at("response").at("warnings").at(0).as_string(), std::string(119, 'x'));
  EXPECT_EQ(said.at("response").at("warnings").at(1), "short");
}

}  // namespace
}  // namespace plim::webhook
