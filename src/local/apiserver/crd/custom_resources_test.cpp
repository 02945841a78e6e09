#include "local/apiserver/crd/custom_resources.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/object.hpp"
#include "local/apiserver/patch/patch.hpp"
#include "local/apiserver/testing/api_fixture.hpp"

namespace plim::local::apiserver::testing {
namespace {

namespace res = kube::resources;
using ::testing::HasSubstr;

constexpr const char* kDefinition =
    "{'metadata':{'name':'gadgets.example.com'},'spec':{'group':'example.com','scope':'Namespaced',"
    "'names':{'plural':'gadgets','kind':'Gadget','shortNames':['gd'],'categories':['all']},"
    "'versions':[{'name':'v1','served':true,'storage':true,'subresources':{'status':{},'scale':{"
    "'specReplicasPath':'.spec.replicas','statusReplicasPath':'.status.replicas'}},"
    "'additionalPrinterColumns':[{'name':'Size','type':'integer','jsonPath':'.spec.size'},{'name':"
    "'Ready','type':'string','jsonPath':'.status.conditions[?(@.type==\\'Ready\\')].status',"
    "'priority':1}],'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':"
    "'object','required':['size'],'properties':{'size':{'type':'integer','minimum':1},'color':{"
    "'type':'string','default':'red'},'replicas':{'type':'integer'}}},'status':{'type':'object',"
    "'x-kubernetes-preserve-unknown-fields':true}}}}}]}}";

const kube::Resource kGadgets{
    .group = "example.com", .version = "v1", .plural = "gadgets", .kind = "Gadget"};

class CustomResourcesTest : public ApiTest {
 protected:
  CustomResourcesTest()
      : resources(CustomResources::install(loop.executor(), clock, *store, *server)) {
    resources->start();
  }

  ~CustomResourcesTest() override { run_to_end(loop, resources->stop()); }

  json::value document(const char* text) {
    std::string quoted(text);
    for (std::size_t i = 0; i < quoted.size(); ++i)
      if (quoted[i] == '\'') quoted[i] = '"';
    return parsed(quoted);
  }

  static void set(json::value& object, const char* pointer, json::value value) {
    const json::value change =
        json::object{{"op", "add"}, {"path", pointer}, {"value", std::move(value)}};
    object = apply_json_patch(std::move(object), json::array{change}).value();
  }

  Result<json::value> define(json::value definition) {
    auto made = run(client->create(res::custom_resource_definitions, {"", ""}, definition));
    loop.run_ready();
    return made;
  }

  void define_gadgets() {
    auto made = define(document(kDefinition));
    ASSERT_TRUE(made) << made.error().message;
  }

  Result<json::value> create(const char* spec, std::string_view name = "g") {
    json::value object = json::object{{"metadata", json::object{{"name", name}}}};
    object.as_object()["spec"] = document(spec);
    return run(client->create(kGadgets, {"default", ""}, object));
  }

  std::string condition(std::string_view name, std::string_view type) {
    const json::value stored =
        run(client->get(res::custom_resource_definitions, {"", std::string(name)})).value();
    for (const json::value& one : stored.at_pointer("/status/conditions").as_array())
      if (text_at(one, {"type"}) == type)
        return fmt::format("{} {}", text_at(one, {"status"}), text_at(one, {"reason"}));
    return "";
  }

  std::unique_ptr<CustomResources> resources;
};

TEST_F(CustomResourcesTest, are_served_as_soon_as_they_are_defined) {
  EXPECT_FALSE(create("{'size':1}"));
  define_gadgets();
  EXPECT_EQ(condition("gadgets.example.com", "Established"), "True InitialNamesAccepted");
  EXPECT_EQ(condition("gadgets.example.com", "NamesAccepted"), "True NoConflicts");
  const json::value stored =
      run(client->get(res::custom_resource_definitions, {"", "gadgets.example.com"})).value();
  EXPECT_EQ(to_json(stored.at_pointer("/status/storedVersions")), R"(["v1"])");
  EXPECT_EQ(text_at(stored, {"spec", "names", "listKind"}), "GadgetList");
  EXPECT_EQ(text_at(stored, {"status", "acceptedNames", "singular"}), "gadget");

  const auto made = create("{'size':2}");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(text_at(*made, {"apiVersion"}), "example.com/v1");
  const json::value list =
      parsed(send("GET", "/apis/example.com/v1/namespaces/default/gadgets").body);
  EXPECT_EQ(text_at(list, {"kind"}), "GadgetList");
}

TEST_F(CustomResourcesTest, appear_in_discovery) {
  define_gadgets();
  const json::value list = parsed(send("GET", "/apis/example.com/v1").body);
  std::vector<std::string> names;
  for (const json::value& resource : list.at("resources").as_array())
    names.emplace_back(text_at(resource, {"name"}));
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("gadgets", "gadgets/status", "gadgets/scale"));
}

TEST_F(CustomResourcesTest, are_pruned_and_defaulted) {
  define_gadgets();
  const auto made = create("{'size':2,'unknown':true}");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(text_at(*made, {"spec", "color"}), "red");
  EXPECT_EQ(find(*made, {"spec", "unknown"}), nullptr);
}

TEST_F(CustomResourcesTest, are_checked_by_their_schema) {
  define_gadgets();
  const auto made = create("{'size':0}");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::invalid);
  EXPECT_EQ(made.error().message,
            "Gadget.example.com \"g\" is invalid: spec.size: Invalid value: 0: spec.size in body "
            "should be greater than or equal to 1");
}

TEST_F(CustomResourcesTest, write_the_status_separately) {
  define_gadgets();
  json::value gadget = create("{'size':2}").value();
  gadget.as_object()["status"] = document("{'phase':'Good'}");
  auto main = run(client->update(kGadgets, {"default", "g"}, gadget));
  ASSERT_TRUE(main) << main.error().message;
  EXPECT_EQ(find(*main, {"status", "phase"}), nullptr);
  auto status = run(client->update(kGadgets, {"default", "g", "status"}, gadget));
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(text_at(*status, {"status", "phase"}), "Good");
}

TEST_F(CustomResourcesTest, can_be_scaled) {
  define_gadgets();
  ASSERT_TRUE(create("{'size':2,'replicas':1}"));
  const net::Response scaled =
      send("PATCH", "/apis/example.com/v1/namespaces/default/gadgets/g/scale",
           R"({"spec":{"replicas":5}})", {{"Content-Type", "application/merge-patch+json"}});
  EXPECT_EQ(scaled.status, 200) << scaled.body;
  const auto gadget = run(client->get(kGadgets, {"default", "g"}));
  EXPECT_EQ(int_at(*gadget, {"spec", "replicas"}), 5);
}

TEST_F(CustomResourcesTest, show_their_own_columns) {
  define_gadgets();
  ASSERT_TRUE(create("{'size':2}"));
  const json::value table =
      parsed(send("GET", "/apis/example.com/v1/namespaces/default/gadgets", "",
                  {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}})
                 .body);
  EXPECT_EQ(text_at(table, {"kind"}), "Table");
  EXPECT_EQ(text_at(table.at_pointer("/columnDefinitions/1"), {"name"}), "Size");
  EXPECT_EQ(int_at(table.at_pointer("/columnDefinitions/2"), {"priority"}), 1);
  EXPECT_EQ(to_json(table.at_pointer("/rows/0/cells")), R"(["g",2,null])");
}

TEST_F(CustomResourcesTest, reject_invalid_definitions) {
  struct Case {
    const char* pointer;
    const char* value;
    const char* message;
  };

  const Case cases[] = {
      {"/metadata/name", "'other.example.com'", "must be spec.names.plural+"},
      {"/spec/scope", "'Galaxy'", "spec.scope: Unsupported value"},
      {"/spec/group", "'nodot'", "at least one dot"},
      {"/spec/names/plural", "'Gadgets'", "spec.names.plural: Invalid value"},
      {"/spec/versions/0/storage", "false", "exactly one version marked as storage version"},
      {"/spec/versions/0/schema", "{}", "openAPIV3Schema: Required value"},
      {"/spec/versions/0/schema/openAPIV3Schema/properties/spec", "{}", "must not be empty"},
      {"/spec/versions/0/additionalPrinterColumns/0/jsonPath", "'spec'",
       "must be a simple json path starting with ."},
      {"/spec/conversion", "{'strategy':'Webhook'}", "spec.conversion.strategy"},
  };
  for (const Case& c : cases) {
    json::value definition = document(kDefinition);
    set(definition, c.pointer, document(c.value));
    const auto made = define(definition);
    ASSERT_FALSE(made) << c.pointer;
    EXPECT_EQ(made.error().code, Code::invalid);
    EXPECT_THAT(made.error().message, HasSubstr(c.message)) << c.pointer;
  }
}

TEST_F(CustomResourcesTest, warn_about_rules_that_are_not_evaluated) {
  json::value definition = document(kDefinition);
  set(definition, "/spec/versions/0/schema/openAPIV3Schema/x-kubernetes-validations",
      document("[{'rule':'self.spec.size > 1'}]"));
  const net::Response made = send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                                  to_json(definition), {{"Content-Type", "application/json"}});
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_THAT(std::string(made.headers.get("Warning")), HasSubstr("x-kubernetes-validations"));
}

TEST_F(CustomResourcesTest, reject_names_that_are_in_use) {
  define_gadgets();
  json::value other = document(kDefinition);
  set(other, "/metadata/name", "gizmos.example.com");
  set(other, "/spec/names/plural", "gizmos");
  ASSERT_TRUE(define(other));
  EXPECT_EQ(condition("gizmos.example.com", "NamesAccepted"), "False KindConflict");
  EXPECT_EQ(condition("gizmos.example.com", "Established"), "False NotAccepted");
}

TEST_F(CustomResourcesTest, can_have_several_versions) {
  json::value definition = document(kDefinition);
  json::value second = definition.at_pointer("/spec/versions/0");
  second.as_object()["name"] = "v2";
  second.as_object()["storage"] = false;
  definition.at_pointer("/spec/versions").as_array().push_back(second);
  ASSERT_TRUE(define(definition));
  ASSERT_TRUE(create("{'size':2}"));
  kube::Resource newer = kGadgets;
  newer.version = "v2";
  const auto got = run(client->get(newer, {"default", "g"}));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(text_at(*got, {"apiVersion"}), "example.com/v2");
}

TEST_F(CustomResourcesTest, change_with_their_definition) {
  define_gadgets();
  json::value stored =
      run(client->get(res::custom_resource_definitions, {"", "gadgets.example.com"})).value();
  set(stored, "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/color/default",
      "blue");
  auto updated =
      run(client->update(res::custom_resource_definitions, {"", "gadgets.example.com"}, stored));
  ASSERT_TRUE(updated) << updated.error().message;
  loop.run_ready();
  EXPECT_EQ(text_at(create("{'size':1}").value(), {"spec", "color"}), "blue");
  stored = *updated;
  set(stored, "/spec/scope", "Cluster");
  stored.as_object()["metadata"].as_object().erase("resourceVersion");
  updated =
      run(client->update(res::custom_resource_definitions, {"", "gadgets.example.com"}, stored));
  ASSERT_FALSE(updated);
  EXPECT_THAT(updated.error().message, HasSubstr("field is immutable"));
}

TEST_F(CustomResourcesTest, are_deleted_with_their_definition) {
  define_gadgets();
  ASSERT_TRUE(create("{'size':2}"));
  ASSERT_TRUE(create("{'size':3}", "h"));
  ASSERT_TRUE(run(client->remove(res::custom_resource_definitions, {"", "gadgets.example.com"})));
  loop.run_ready();
  EXPECT_FALSE(run(client->get(res::custom_resource_definitions, {"", "gadgets.example.com"})));
  EXPECT_EQ(send("GET", "/apis/example.com/v1/namespaces/default/gadgets").status, 404);
  EXPECT_EQ(store->view().count("/registry/example.com/gadgets/"), 0u);
}

TEST_F(CustomResourcesTest, are_served_again_after_a_restart) {
  define_gadgets();
  ASSERT_TRUE(create("{'size':2}"));
  auto again = ApiServer::create(loop.executor(), clock, *store).value();
  auto following = CustomResources::install(loop.executor(), clock, *store, *again);
  following->start();
  auto other = again->client({.name = "admin", .groups = {"system:masters"}});
  EXPECT_TRUE(run(other->get(kGadgets, {"default", "g"})));
  run_to_end(loop, following->stop());
  run_to_end(loop, again->stop());
}

}  // namespace
}  // namespace plim::local::apiserver::testing
