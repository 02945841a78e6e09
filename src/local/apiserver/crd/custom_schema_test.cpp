#include "local/apiserver/crd/custom_schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "local/apiserver/patch/testing/sample_types.hpp"

namespace plim::local::apiserver {
namespace {

using testing::doc;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The schema of spec, wrapped in that of an object.
CustomSchemaPtr schema(const char* spec) {
  json::value root = doc("{'type':'object','properties':{}}");
  make_object(root, {"properties"})["spec"] = doc(spec);
  SchemaReading reading = read_schema(root, "schema");
  EXPECT_THAT(reading.causes, IsEmpty());
  return reading.schema;
}

std::string refusal(const char* text) {
  std::string out;
  for (const Cause& cause : read_schema(doc(text), "schema").causes)
    out += cause.field + " " + cause.reason + " " + cause.message + "\n";
  return out;
}

TEST(CustomSchema, must_be_structural) {
  const std::pair<const char*, const char*> cases[] = {
      {"{}", "schema.type FieldValueRequired"},
      {"{'type':'string'}", "must be object at the root"},
      {"{'type':'object','properties':{'a':{}}}", "schema.properties[a].type FieldValueRequired"},
      {"{'type':'object','properties':{'a':{'type':'thing'}}}", "FieldValueNotSupported"},
      {"{'type':'object','properties':{'a':{'type':'array'}}}",
       "schema.properties[a].items FieldValueRequired"},
      {"{'type':'object','additionalProperties':false}", "cannot be set to false"},
      {"{'type':'object','properties':{'a':{'type':'string'}},'additionalProperties':{'type':"
       "'string'}}",
       "mutual exclusive"},
      {"{'type':'object','$ref':'x'}", "schema.$ref FieldValueForbidden"},
      {"{'type':'object','properties':{'a':{'type':'string','pattern':'('}}}",
       "schema.properties[a].pattern FieldValueInvalid"},
      {"{'type':'object','properties':{'a':{'type':'array','items':{'type':'object'},"
       "'x-kubernetes-list-type':'map'}}}",
       "x-kubernetes-list-map-keys FieldValueRequired"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_THAT(refusal(text), HasSubstr(expected)) << text;
}

TEST(CustomSchema, names_the_rules_that_are_not_evaluated) {
  const SchemaReading reading = read_schema(
      doc("{'type':'object','properties':{'a':{'type':'string','x-kubernetes-validations':[]}}}"),
      "s");
  EXPECT_THAT(reading.ignored, ElementsAre("s.properties[a].x-kubernetes-validations"));
}

TEST(CustomSchema, prunes_unknown_fields) {
  const auto known = schema(
      "{'type':'object','properties':{'a':{'type':'string'},'n':{'type':'string','nullable':true},"
      "'free':{'type':'object','x-kubernetes-preserve-unknown-fields':true},'map':{'type':'object',"
      "'additionalProperties':{'type':'object','properties':{'x':{'type':'integer'}}}},'list':{"
      "'type':'array','items':{'type':'object','properties':{'y':{'type':'integer'}}}},'inner':{"
      "'type':'object','x-kubernetes-embedded-resource':true}}}");
  json::value object = doc(
      "{'apiVersion':'v','kind':'K','metadata':{'name':'x','z':1},'extra':1,'spec':{'a':'b','n':"
      "null,'no':1,'free':{'any':[1]},'map':{'k':{'x':1,'no':1}},'list':[{'y':1,'no':1}],'inner':{"
      "'kind':'P','metadata':{},'no':1}}}");
  FieldMistakes mistakes;
  prune(*known, object, mistakes);
  EXPECT_EQ(to_json(object),
            to_json(doc("{'apiVersion':'v','kind':'K','metadata':{'name':'x','z':1},'spec':{'a':'b'"
                        ",'n':null,'free':{'any':[1]},'map':{'k':{'x':1}},'list':[{'y':1}],'inner':"
                        "{'kind':'P','metadata':{}}}}")));
  EXPECT_THAT(mistakes,
              ElementsAre("unknown field \"extra\"", "unknown field \"spec.no\"",
                          "unknown field \"spec.map.k.no\"", "unknown field \"spec.list[0].no\"",
                          "unknown field \"spec.inner.no\""));
}

TEST(CustomSchema, fills_in_defaults_at_every_depth) {
  const auto known = schema(
      "{'type':'object','default':{},'properties':{'a':{'type':'integer','default':1},'o':{'type':"
      "'object','properties':{'b':{'type':'string','default':'x'}}},'list':{'type':'array','items':"
      "{'type':'object','properties':{'c':{'type':'boolean','default':true}}}},'map':{'type':"
      "'object','additionalProperties':{'type':'object','properties':{'d':{'type':'integer',"
      "'default':2}}}},'nulled':{'type':'string','default':'y'}}}");
  json::value object =
      doc("{'spec':{'o':{},'list':[{},{'c':false}],'map':{'k':{}},'nulled':null}}");
  FieldMistakes mistakes;
  prune(*known, object, mistakes);
  fill_in(*known, object);
  EXPECT_EQ(object, doc("{'spec':{'a':1,'o':{'b':'x'},'list':[{'c':true},{'c':false}],'map':{'k':{"
                        "'d':2}},'nulled':'y'}}"));
  json::value empty = doc("{}");
  fill_in(*known, empty);
  EXPECT_EQ(empty, doc("{'spec':{'a':1,'nulled':'y'}}"));
}

std::string causes(const char* spec_schema, const char* spec) {
  json::value object = json::object();
  object.as_object()["spec"] = doc(spec);
  std::string out;
  for (const Cause& cause : check(*schema(spec_schema), object))
    out += cause.field + " " + cause.reason + " " + cause.message + "\n";
  return out;
}

TEST(CustomSchema, accepts_valid_values) {
  const std::pair<const char*, const char*> cases[] = {
      {"{'type':'integer','minimum':1,'maximum':3}", "3"},
      {"{'type':'number'}", "1"},
      {"{'type':'integer'}", "2.0"},
      {"{'x-kubernetes-int-or-string':true}", "'50%'"},
      {"{'x-kubernetes-int-or-string':true}", "5"},
      {"{'type':'string','nullable':true}", "null"},
      {"{'type':'string','format':'date-time'}", "'2024-01-02T03:04:05Z'"},
      {"{'type':'string','pattern':'^a+$','maxLength':3}", "'aaa'"},
      {"{'type':'string','maxLength':1}", "'é'"},
      {"{'x-kubernetes-preserve-unknown-fields':true}", "[1]"},
  };
  for (const auto& [s, value] : cases) EXPECT_EQ(causes(s, value), "") << s;
}

TEST(CustomSchema, rejects_values_with_the_messages_of_upstream) {
  struct Case {
    const char* schema;
    const char* value;
    const char* causes;
  };

  const Case cases[] = {
      {"{'type':'integer'}", "'x'",
       "spec FieldValueTypeInvalid Invalid value: \"string\": spec in body must be of type "
       "integer: "
       "\"string\"\n"},
      {"{'type':'integer'}", "1.5",
       "spec FieldValueTypeInvalid Invalid value: \"number\": spec in body must be of type "
       "integer: "
       "\"number\"\n"
       "<nil> FieldValueInvalid Invalid value: \"\": Checked value must be of type integer "
       "(default format) in spec\n"},
      {"{'type':'integer','format':'int32'}", "2147483648",
       "<nil> FieldValueInvalid Invalid value: \"\": Checked value must be of type integer with "
       "format int32 in spec\n"},
      {"{'type':'string'}", "null",
       "spec FieldValueTypeInvalid Invalid value: \"null\": spec in body must be of type string: "
       "\"null\"\n"},
      {"{'type':'integer','minimum':1}", "0",
       "spec FieldValueInvalid Invalid value: 0: spec in body should be greater than or equal to "
       "1\n"},
      {"{'type':'integer','maximum':3,'exclusiveMaximum':true}", "3",
       "spec FieldValueInvalid Invalid value: 3: spec in body should be less than 3\n"},
      {"{'type':'string','minLength':2}", "'a'",
       "spec FieldValueInvalid Invalid value: \"a\": spec in body should be at least 2 chars "
       "long\n"},
      {"{'type':'string','maxLength':2}", "'abc'",
       "spec FieldValueTooLong Too long: may not be more than 2 bytes\n"},
      {"{'type':'string','pattern':'^a$'}", "'b'",
       "spec FieldValueInvalid Invalid value: \"b\": spec in body should match '^a$'\n"},
      {"{'type':'string','enum':['a','b']}", "'c'",
       "spec FieldValueNotSupported Unsupported value: \"c\": supported values: \"a\", \"b\"\n"},
      {"{'type':'string','format':'date-time'}", "'now'",
       "spec FieldValueTypeInvalid Invalid value: \"now\": spec in body must be of type date-time: "
       "\"now\"\n"},
      {"{'type':'string','format':'byte'}", "'%'",
       "spec FieldValueTypeInvalid Invalid value: \"%\": spec in body must be of type byte: "
       "\"%\"\n"},
      {"{'type':'array','minItems':1,'items':{'type':'string'}}", "[]",
       "spec FieldValueInvalid Invalid value: 0: spec in body should have at least 1 items\n"},
      {"{'type':'array','maxItems':1,'items':{'type':'string'}}", "['a','b']",
       "spec FieldValueTooMany Too many: 2: must have at most 1 items\n"},
      {"{'type':'array','x-kubernetes-list-type':'set','items':{'type':'string'}}", "['a','a']",
       "spec[1] FieldValueDuplicate Duplicate value: \"a\"\n"},
      {"{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['n'],'items':{"
       "'required':['n'],'type':'object','properties':{'n':{'type':'string'}}}}",
       "[{'n':'a'},{'n':'a'}]", "spec[1] FieldValueDuplicate Duplicate value: {\"n\":\"a\"}\n"},
      {"{'type':'object','required':['a'],'properties':{'a':{'type':'string'}}}", "{}",
       "spec.a FieldValueRequired Required value\n"},
      {"{'type':'object','additionalProperties':{'type':'integer'}}", "{'k':'v'}",
       "spec.k FieldValueTypeInvalid Invalid value: \"string\": spec.k in body must be of type "
       "integer: \"string\"\n"},
  };
  for (const Case& c : cases) EXPECT_EQ(causes(c.schema, c.value), c.causes) << c.schema;
}

}  // namespace
}  // namespace plim::local::apiserver
