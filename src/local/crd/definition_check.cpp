// What the server demands of a CustomResourceDefinition before it is stored.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "local/crd/custom_schema.hpp"
#include "local/crd/definition.hpp"
#include "local/crd/printer_path.hpp"

namespace plim::local {
namespace {

const json::array& list_at(const json::value& value, std::string_view key) {
  static const json::array none;
  const json::value* found = find(value, {key});
  return found && found->is_array() ? found->get_array() : none;
}

// A DNS label: what may stand between the dots of a name.
bool is_label(std::string_view text) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c); };
  return !text.empty() && text.size() <= 63 && plain(text.front()) && plain(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return plain(c) || c == '-'; });
}

class Checker {
 public:
  void check(const json::value& definition) {
    const std::string_view group = text_at(definition, {"spec", "group"});
    const std::string_view plural = text_at(definition, {"spec", "names", "plural"});
    check_label(plural, "spec.names.plural");
    check_label(text_at(definition, {"spec", "names", "singular"}), "spec.names.singular");
    for (const char* name : {"kind", "listKind"}) {
      const std::string lower = to_lower(text_at(definition, {"spec", "names", name}));
      check_label(lower, fmt::format("spec.names.{}", name));
    }
    if (group.empty()) require("spec.group", "");
    for (std::string_view part : split(group, '.'))
      if (!group.empty() && !is_label(part)) refuse("spec.group", group, "must be a subdomain");
    if (!group.empty() && group.find('.') == group.npos)
      refuse("spec.group", group, "should be a domain with at least one dot");
    const std::string expected = fmt::format("{}.{}", plural, group);
    if (text_at(definition, {"metadata", "name"}) != expected)
      refuse("metadata.name", text_at(definition, {"metadata", "name"}),
             "must be spec.names.plural+\".\"+spec.group");
    const std::string_view scope = text_at(definition, {"spec", "scope"});
    if (scope.empty())
      require("spec.scope", "");
    else if (scope != "Namespaced" && scope != "Cluster")
      choose("spec.scope", scope, R"("Cluster", "Namespaced")");
    const std::string_view strategy = text_at(definition, {"spec", "conversion", "strategy"});
    if (!strategy.empty() && strategy != "None")
      choose("spec.conversion.strategy", strategy, R"("None")");
    check_versions(definition);
  }

  void check_change(const json::value& definition, const json::value& before) {
    for (const auto& path : {std::initializer_list<std::string_view>{"spec", "group"},
                             {"spec", "scope"},
                             {"spec", "names", "plural"},
                             {"spec", "names", "kind"}}) {
      const std::string_view now = text_at(definition, path);
      if (now == text_at(before, path)) continue;
      refuse(fmt::format("{}", fmt::join(path, ".")), now, "field is immutable");
    }
  }

  DefinitionCheck out;

 private:
  void add(std::string reason, std::string field, std::string message) {
    out.causes.push_back(
        {.reason = std::move(reason), .message = std::move(message), .field = std::move(field)});
  }

  void require(std::string field, std::string_view why) {
    add("FieldValueRequired", std::move(field),
        why.empty() ? "Required value" : fmt::format("Required value: {}", why));
  }

  void refuse(std::string field, std::string_view value, std::string_view why) {
    add("FieldValueInvalid", std::move(field),
        fmt::format("Invalid value: {}: {}", quote(value), why));
  }

  void choose(std::string field, std::string_view value, std::string_view choices) {
    add("FieldValueNotSupported", std::move(field),
        fmt::format("Unsupported value: {}: supported values: {}", quote(value), choices));
  }

  void check_label(std::string_view value, std::string field) {
    if (value.empty())
      require(std::move(field), "");
    else if (!is_label(value))
      refuse(std::move(field), value, "must consist of lower case letters, digits and '-'");
  }

  void check_versions(const json::value& definition) {
    const json::value* spec = find(definition, {"spec"});
    const json::array& versions = spec ? list_at(*spec, "versions") : list_at(definition, "");
    if (versions.empty())
      require("spec.versions", "must have exactly one version marked as storage version");
    std::set<std::string, std::less<>> names;
    int stored = 0;
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const std::string field = fmt::format("spec.versions[{}]", i);
      const std::string_view name = text_at(versions[i], {"name"});
      check_label(name, field + ".name");
      if (!names.emplace(name).second)
        add("FieldValueDuplicate", field + ".name",
            fmt::format("Duplicate value: {}", quote(name)));
      if (bool_at(versions[i], {"storage"})) ++stored;
      check_version(versions[i], field);
    }
    if (!versions.empty() && stored != 1)
      refuse("spec.versions", fmt::format("{}", stored),
             "must have exactly one version marked as storage version");
  }

  void check_version(const json::value& version, const std::string& field) {
    const std::string schema_field = field + ".schema.openAPIV3Schema";
    if (const json::value* schema = find(version, {"schema", "openAPIV3Schema"})) {
      SchemaReading reading = read_schema(*schema, schema_field);
      for (Cause& cause : reading.causes) out.causes.push_back(std::move(cause));
      for (const std::string& ignored : reading.ignored)
        out.warnings.push_back(
            fmt::format("{}: stored, but this server does not evaluate it", ignored));
    } else {
      require(schema_field, "schemas are required");
    }
    const json::array& columns = list_at(version, "additionalPrinterColumns");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string column = fmt::format("{}.additionalPrinterColumns[{}]", field, i);
      for (const char* member : {"name", "type", "jsonPath"})
        if (text_at(columns[i], {member}).empty())
          require(fmt::format("{}.{}", column, member), "");
      const std::string_view path = text_at(columns[i], {"jsonPath"});
      if (path.empty()) continue;
      if (auto parsed = PrinterPath::parse(path); !parsed)
        refuse(column + ".jsonPath", path, parsed.error().message);
    }
    if (const json::value* scale = find(version, {"subresources", "scale"})) {
      const bool usual = text_at(*scale, {"specReplicasPath"}) == ".spec.replicas" &&
                         text_at(*scale, {"statusReplicasPath"}) == ".status.replicas";
      if (!usual)
        out.warnings.push_back(fmt::format(
            "{}.subresources.scale: this server scales .spec.replicas and .status.replicas only",
            field));
    }
  }
};

}  // namespace

DefinitionCheck check_definition(const json::value& definition, const json::value* before) {
  Checker checker;
  checker.check(definition);
  if (before) checker.check_change(definition, *before);
  return std::move(checker.out);
}

}  // namespace plim::local
