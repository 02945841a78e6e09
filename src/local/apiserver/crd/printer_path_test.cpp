#include "local/apiserver/crd/printer_path.hpp"

#include <gtest/gtest.h>

#include "local/apiserver/patch/testing/sample_types.hpp"

namespace plim::local::apiserver {
namespace {

using testing::doc;

TEST(PrinterPath, finds_the_first_value) {
  const json::value object =
      doc("{'spec':{'a':{'b':[{'c':1},{'c':2}]},'x.y':'dotted'},'status':{'conditions':[{'type':"
          "'Other','status':'False'},{'type':'Ready','status':'True','n':3}]}}");
  const std::pair<const char*, const char*> cases[] = {
      {".spec.a.b[0].c", "1"},
      {".spec.a.b[-1].c", "2"},
      {".spec.a.b[*].c", "1"},
      {".spec.a.b[7].c", "none"},
      {".spec.x\\.y", "\"dotted\""},
      {".status.conditions[?(@.type==\"Ready\")].status", "\"True\""},
      {".status.conditions[?(@.type=='Ready')].status", "\"True\""},
      {".status.conditions[?( @.type != \"Ready\" )].status", "\"False\""},
      {".status.conditions[?(@.n==3)].type", "\"Ready\""},
      {".status.conditions[?(@.type==\"Gone\")].status", "none"},
      {".spec.none.deeper", "none"},
      {".status.conditions.type", "none"},
  };
  for (const auto& [path, expected] : cases) {
    const auto parsed = PrinterPath::parse(path);
    ASSERT_TRUE(parsed) << path << ": " << parsed.error().message;
    const json::value* found = parsed->find_in(object);
    EXPECT_EQ(found ? to_json(*found) : "none", expected) << path;
  }
}

TEST(PrinterPath, rejects_what_it_does_not_support) {
  for (const char* path : {"", "spec", ".", "..a", ".a[", ".a[x]", ".a[?(@.b)]", ".a[?(@.b==)]",
                           ".a[?(@.b=='x']", ".a[?(b=='x')]", ".a b"})
    EXPECT_FALSE(PrinterPath::parse(path)) << path;
}

}  // namespace
}  // namespace plim::local::apiserver
