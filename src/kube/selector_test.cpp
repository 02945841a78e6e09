#include "kube/selector.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace plim::kube {
namespace {

using Labels = std::map<std::string, std::string>;
using Op = LabelRequirement::Op;
using ::testing::HasSubstr;

LabelSelector parsed(std::string_view text) {
  auto out = LabelSelector::parse(text);
  EXPECT_TRUE(out) << text << ": " << out.error().message;
  return out ? *out : LabelSelector::nothing();
}

std::string refusal(std::string_view text) {
  auto out = LabelSelector::parse(text);
  return out ? "accepted: " + std::string(text) : out.error().message;
}

TEST(Labels, are_compared_as_numbers_when_they_are_whole) {
  EXPECT_EQ(label_number("12"), 12);
  EXPECT_EQ(label_number("+12"), 12);
  EXPECT_EQ(label_number("-12"), -12);
  for (std::string_view text :
       {"", "+", "-", "+-12", "++1", "1.5", "12a", " 1", "9223372036854775808"})
    EXPECT_FALSE(label_number(text)) << text;
}

TEST(LabelSelector, reads_every_operator) {
  Labels web{{"app", "web"}, {"tier", "front"}, {"cores", "8"}};
  for (auto text : {"", "  ", "app=web", "app==web", "app = web", "app!=db", "app", "!db", "! db",
                    "tier in (front,back)", "tier in ( back , front )", "tier notin (back)",
                    "zone notin (a)", "zone!=a", "cores>7", "cores > 0", "cores<9",
                    "app=web,tier,!zone,cores>1", "app in (web),tier notin ()"})
    EXPECT_TRUE(parsed(text).matches(web)) << text;
  for (auto text : {"app=db", "app!=web", "db", "!app", "tier in (back)", "tier notin (front)",
                    "cores>8", "cores<8", "app>1", "zone<5", "app=", "app in ()", "app=web,zone"})
    EXPECT_FALSE(parsed(text).matches(web)) << text;
}

TEST(LabelSelector, keywords_are_keys_and_values_too) {
  EXPECT_TRUE(parsed("in in (in,notin)").matches(Labels{{"in", "notin"}}));
  EXPECT_TRUE(parsed("notin=in").matches(Labels{{"notin", "in"}}));
}

TEST(LabelSelector, empty_values_are_values) {
  EXPECT_TRUE(parsed("a=,b").matches(Labels{{"a", ""}, {"b", "x"}}));
  EXPECT_TRUE(parsed("a in (,x)").matches(Labels{{"a", ""}}));
  EXPECT_FALSE(parsed("a=").matches(Labels{}));
}

TEST(LabelSelector, tells_the_column_of_a_mistake) {
  EXPECT_THAT(refusal("app=web,"), HasSubstr("column 9: expected a label key"));
  EXPECT_THAT(refusal(",app"), HasSubstr("column 1: expected a label key"));
  EXPECT_THAT(refusal("app web"), HasSubstr("column 5: expected one of"));
  EXPECT_THAT(refusal("app in web"), HasSubstr("column 8: expected '('"));
  EXPECT_THAT(refusal("app in (web"), HasSubstr("column 12: expected ',' or ')'"));
  EXPECT_THAT(refusal("cores>many"), HasSubstr("column 7: expected an integer"));
  EXPECT_THAT(refusal("a=b=c"), HasSubstr("column 4: expected ',' or the end"));
  EXPECT_THAT(refusal("-a=b"), HasSubstr("column 1: label key"));
  EXPECT_THAT(refusal("UPPER/a=b"), HasSubstr("needs a DNS name"));
  EXPECT_THAT(refusal("a=b/c"), HasSubstr("column 3: label value"));
  EXPECT_THAT(refusal("a=" + std::string(64, 'x')), HasSubstr("label value"));
  EXPECT_THAT(refusal("!a=b"), HasSubstr("column 3"));
}

TEST(LabelSelector, prints_in_canonical_order) {
  EXPECT_EQ(parsed("tier in (b,a,b),!x , app == web").to_string(), "app=web,tier in (a,b),!x");
  EXPECT_EQ(parsed("").to_string(), "");
}

TEST(LabelSelector, reads_the_objects_of_the_api) {
  auto object = json::parse(R"({"matchLabels":{"app":"web"},"matchExpressions":[
      {"key":"tier","operator":"In","values":["b","a"]},{"key":"x","operator":"DoesNotExist"}]})");
  auto selector = LabelSelector::from_json(object);
  ASSERT_TRUE(selector) << selector.error().message;
  EXPECT_EQ(selector->to_string(), "app=web,tier in (a,b),!x");
  EXPECT_FALSE(LabelSelector::from_json(nullptr)->matches(Labels{}));
  EXPECT_TRUE(LabelSelector::from_json(json::object())->matches(Labels{}));
}

TEST(LabelSelector, names_the_field_of_a_bad_object) {
  auto message = [](const char* text) {
    auto out = LabelSelector::from_json(json::parse(text));
    return out ? std::string("accepted") : out.error().message;
  };
  EXPECT_THAT(message("3"), HasSubstr("expected an object"));
  EXPECT_THAT(message(R"({"matchLabels":{"a":1}})"), HasSubstr("matchLabels.a"));
  EXPECT_THAT(message(R"({"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]})"),
              HasSubstr("matchExpressions[0].operator"));
  EXPECT_THAT(message(R"({"matchExpressions":[{"key":"a","operator":"In"}]})"),
              HasSubstr("matchExpressions[0].values: must not be empty"));
  EXPECT_THAT(message(R"({"matchExpressions":[{"key":"a","operator":"Exists","values":["1"]}]})"),
              HasSubstr("matchExpressions[0].values: must be empty"));
}

rc::Gen<std::string> small_text() {
  return rc::gen::element<std::string>("a", "b", "in", "notin", "x-1", "12", "-3x", "7", "");
}

rc::Gen<std::string> small_key() {
  return rc::gen::element<std::string>("a", "b", "in", "k8s.io/x", "Z_9");
}

std::string term(const LabelRequirement& r) {
  static const std::map<Op, std::string> symbols{{Op::equals, " == "}, {Op::not_equals, "!="},
                                                 {Op::in, " in ("},    {Op::not_in, " notin ("},
                                                 {Op::greater, ">"},   {Op::less, " <"}};
  if (r.op == Op::exists) return r.key;
  if (r.op == Op::not_exists) return "!" + r.key;
  std::string out = r.key + symbols.at(r.op);
  for (const auto& value : r.values) out += (&value == &r.values[0] ? "" : " , ") + value;
  return out + (r.op == Op::in || r.op == Op::not_in ? ")" : "");
}

LabelRequirement arbitrary_requirement() {
  LabelRequirement r;
  r.key = *small_key();
  r.op = *rc::gen::element(Op::equals, Op::not_equals, Op::in, Op::not_in, Op::exists,
                           Op::not_exists, Op::greater, Op::less);
  auto good = rc::gen::suchThat(small_text(),
                                [](const std::string& t) { return bool(check_label_value(t)); });
  if (r.op == Op::equals || r.op == Op::not_equals) r.values = {*good};
  if (r.op == Op::greater || r.op == Op::less)
    r.values = {std::to_string(*rc::gen::inRange(0, 20))};
  if (r.op == Op::in || r.op == Op::not_in)
    r.values = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(good));
  return r;
}

// The meaning, written as plainly as possible.
bool naive(const LabelRequirement& r, const Labels& labels) {
  auto found = labels.find(r.key);
  bool has = found != labels.end();
  bool listed = has && std::count(r.values.begin(), r.values.end(), found->second) > 0;
  bool digits = has && !found->second.empty() &&
                found->second.find_first_not_of("0123456789") == std::string::npos;
  switch (r.op) {
    case Op::equals:
    case Op::in:
      return listed;
    case Op::not_equals:
    case Op::not_in:
      return !listed;
    case Op::exists:
      return has;
    case Op::not_exists:
      return !has;
    case Op::greater:
      return digits && std::stoi(found->second) > std::stoi(r.values[0]);
    case Op::less:
      return digits && std::stoi(found->second) < std::stoi(r.values[0]);
  }
  return false;
}

RC_GTEST_PROP(LabelSelector, means_what_its_terms_mean_and_prints_what_it_means, ()) {
  std::vector<LabelRequirement> terms(*rc::gen::inRange<std::size_t>(0, 4));
  std::string text;
  for (auto& r : terms) {
    r = arbitrary_requirement();
    text += (text.empty() ? "" : ",") + term(r);
  }
  // From pairs: a generator of maps gives up when it draws the same few keys too often.
  Labels labels;
  for (auto& [key, value] : *rc::gen::container<std::vector<std::pair<std::string, std::string>>>(
           rc::gen::pair(small_key(), small_text())))
    labels[key] = value;
  auto selector = LabelSelector::parse(text);
  RC_ASSERT(bool(selector));
  bool want = std::all_of(terms.begin(), terms.end(), [&](auto& r) { return naive(r, labels); });
  RC_ASSERT(selector->matches(labels) == want);
  auto again = LabelSelector::parse(selector->to_string());
  RC_ASSERT(bool(again));
  RC_ASSERT(*again == *selector);
}

RC_GTEST_PROP(LabelSelector, survives_any_text, (const std::string& text)) {
  auto selector = LabelSelector::parse(text);
  if (selector) RC_ASSERT(*LabelSelector::parse(selector->to_string()) == *selector);
}

TEST(FieldSelector, reads_terms_and_escapes) {
  auto selector = FieldSelector::parse(R"(status.phase!=Failed,spec.nodeName==n1,,a=x\,y\=\\)");
  ASSERT_TRUE(selector) << selector.error().message;
  ASSERT_EQ(selector->requirements().size(), 3u);
  EXPECT_EQ(selector->requirements()[2].value, R"(x,y=\)");
  EXPECT_EQ(selector->to_string(), R"(status.phase!=Failed,spec.nodeName=n1,a=x\,y\=\\)");
  Labels fields{{"spec.nodeName", "n1"}, {"a", R"(x,y=\)"}};
  auto lookup = [&](const std::string& f) { return fields.count(f) ? fields[f] : std::string(); };
  EXPECT_TRUE(selector->matches(lookup));
  fields["status.phase"] = "Failed";
  EXPECT_FALSE(selector->matches(lookup));
}

TEST(FieldSelector, tells_the_column_of_a_mistake) {
  auto message = [](std::string_view text) {
    auto out = FieldSelector::parse(text);
    return out ? std::string("accepted") : out.error().message;
  };
  EXPECT_THAT(message("a"), HasSubstr("column 2: expected =, == or !="));
  EXPECT_THAT(message("a,b=c"), HasSubstr("column 2"));
  EXPECT_THAT(message("=x"), HasSubstr("column 1: expected a field"));
  EXPECT_THAT(message("a!b"), HasSubstr("column 2"));
  EXPECT_THAT(message("a=b=c"), HasSubstr("column 4: '='"));
  EXPECT_THAT(message(R"(a=b\n)"), HasSubstr("column 4: a backslash"));
  EXPECT_THAT(message("a=b\\"), HasSubstr("column 4: a backslash"));
}

RC_GTEST_PROP(FieldSelector, prints_what_it_read, (const std::string& value)) {
  std::string text = "metadata.name=";
  for (char c : value) {
    if (c == '\\' || c == ',' || c == '=') text += '\\';
    text += c;
  }
  auto selector = FieldSelector::parse(text);
  RC_ASSERT(bool(selector));
  RC_ASSERT(selector->requirements()[0].value == value);
  RC_ASSERT(*FieldSelector::parse(selector->to_string()) == *selector);
}

}  // namespace
}  // namespace plim::kube
