// Validates a CustomResourceDefinition before it is stored.
#include <algorithm>
#include <set>

#include <fmt/ranges.h>

#include "base/text.hpp"
#include "kube/paths.hpp"
#include "local/apiserver/crd/custom_schema.hpp"
#include "local/apiserver/crd/definition.hpp"
#include "local/apiserver/crd/printer_path.hpp"
#include "local/apiserver/schema/name_rules.hpp"

namespace plim::local::apiserver {
namespace {

// Upstream stores what all versions have in common separately, and reports mistakes there.
bool is_common(const json::array& versions, kube::AnyPath member) {
  for (const json::value& version : versions) {
    const json::value* one = kube::find(version, member);
    const json::value* first = kube::find(versions[0], member);
    if (!one || !first ? one != first : *one != *first) return false;
  }
  return true;
}

class DefinitionChecker {
 public:
  void check(const json::value& definition) {
    const std::string_view group = kube::text_at(definition, "CustomResourceDefinition.spec.group");
    const std::string_view plural =
        kube::text_at(definition, "CustomResourceDefinition.spec.names.plural");
    const std::string expected = fmt::format("{}.{}", plural, group);
    if (kube::text_at(definition, "CustomResourceDefinition.metadata.name") != expected)
      refuse("metadata.name", kube::text_at(definition, "CustomResourceDefinition.metadata.name"),
             "must be spec.names.plural+\".\"+spec.group");
    check_group(group);
    const std::string_view scope = kube::text_at(definition, "CustomResourceDefinition.spec.scope");
    if (scope.empty())
      require("spec.scope", "");
    else if (scope != "Namespaced" && scope != "Cluster")
      choose("spec.scope", scope, R"("Cluster", "Namespaced")");
    check_versions(definition);
    if (kube::bool_at(definition, "CustomResourceDefinition.spec.preserveUnknownFields"))
      add("FieldValueInvalid", "spec.preserveUnknownFields",
          "Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to "
          "true in spec.versions[*].schema instead");
    check_names(definition);
    // Upstream supports conversion webhooks; this server does not.
    const std::string_view strategy =
        kube::text_at(definition, "CustomResourceDefinition.spec.conversion.strategy");
    if (!strategy.empty() && strategy != "None")
      choose("spec.conversion.strategy", strategy, R"("None", "Webhook")");
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
    const json::value* stored =
        kube::find(before, "CustomResourceDefinition.status.storedVersions");
    const json::value* spec = kube::find(definition, "CustomResourceDefinition.spec");
    if (!stored || !stored->is_array() || !spec) return;
    for (std::size_t i = 0; i < stored->get_array().size(); ++i) {
      const json::value& name = stored->get_array()[i];
      const json::array& versions = kube::list_at(*spec, "CustomResourceDefinitionSpec.versions");
      const bool kept = std::ranges::any_of(versions, [&](const json::value& version) {
        return name.is_string() && kube::text_at(version, "CustomResourceDefinitionVersion.name") ==
                                       std::string_view(name.get_string());
      });
      if (!kept && name.is_string())
        refuse(fmt::format("status.storedVersions[{}]", i), name.get_string(),
               fmt::format("missing from spec.versions; {0} was previously a storage version, and "
                           "must remain in spec.versions until a storage migration ensures no data "
                           "remains persisted in {0} and removes {0} from status.storedVersions",
                           std::string_view(name.get_string())));
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

  void check_label(std::string_view value, const std::string& field) {
    if (value.empty()) return require(field, "");
    for (const std::string& why : check_dns_1035_label(value)) refuse(field, value, why);
  }

  void check_group(std::string_view group) {
    if (group.empty()) return require("spec.group", "");
    const Messages wrong = check_dns_subdomain(group);
    for (const std::string& why : wrong) refuse("spec.group", group, why);
    if (wrong.empty() && group.find('.') == group.npos)
      refuse("spec.group", group, "should be a domain with at least one dot");
  }

  void check_names(const json::value& definition) {
    const json::value* names = kube::find(definition, "CustomResourceDefinition.spec.names");
    if (!names) return;
    check_label(kube::text_at(*names, "CustomResourceDefinitionNames.plural"), "spec.names.plural");
    check_label(kube::text_at(*names, "CustomResourceDefinitionNames.singular"),
                "spec.names.singular");
    constexpr kube::TextPath kKinds[] = {"CustomResourceDefinitionNames.kind",
                                         "CustomResourceDefinitionNames.listKind"};
    for (kube::TextPath path : kKinds)
      check_label(to_lower(kube::text_at(*names, path)), fmt::format("spec.names.{}", path.key()));
    constexpr kube::ListPath kLists[] = {"CustomResourceDefinitionNames.shortNames",
                                         "CustomResourceDefinitionNames.categories"};
    for (kube::ListPath path : kLists) {
      const json::array& list = kube::list_at(*names, path);
      for (std::size_t i = 0; i < list.size(); ++i)
        if (list[i].is_string())
          check_label(list[i].get_string(), fmt::format("spec.names.{}[{}]", path.key(), i));
    }
  }

  void check_versions(const json::value& definition) {
    const json::array& versions =
        kube::list_at(definition, "CustomResourceDefinition.spec.versions");
    std::set<std::string, std::less<>> names;
    int stored = 0;
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const std::string field = fmt::format("spec.versions[{}]", i);
      const std::string_view name =
          kube::text_at(versions[i], "CustomResourceDefinitionVersion.name");
      check_label(name, field + ".name");
      names.emplace(name);
      if (kube::bool_at(versions[i], "CustomResourceDefinitionVersion.storage")) ++stored;
      const std::string_view warning =
          kube::text_at(versions[i], "CustomResourceDefinitionVersion.deprecationWarning");
      if (!warning.empty() &&
          !kube::bool_at(versions[i], "CustomResourceDefinitionVersion.deprecated"))
        refuse(field + ".deprecationWarning", warning, "can only be set for deprecated versions");
    }
    // Upstream also prints the list here, which does not help a reader.
    if (names.size() != versions.size())
      add("FieldValueInvalid", "spec.versions", "Invalid value: must contain unique version names");
    if (stored != 1)
      add("FieldValueInvalid", "spec.versions",
          fmt::format("Invalid value: {}: must have exactly one version marked as storage version",
                      versions.empty() ? "[]" : std::to_string(stored)));
    if (stored == 0)
      add("FieldValueInvalid", "status.storedVersions",
          "Invalid value: null: must have at least one stored version");
    check_parts(versions);
  }

  // Checks what all versions have in common only once.
  void check_parts(const json::array& versions) {
    using Check = void (DefinitionChecker::*)(const json::value& version, const std::string& field);

    struct Part {
      kube::AnyPath member;
      std::string_view common;
      Check check;
    };

    constexpr Part kParts[] = {
        {"CustomResourceDefinitionVersion.schema", "validation", &DefinitionChecker::check_schema},
        {"CustomResourceDefinitionVersion.selectableFields", "selectableFields",
         &DefinitionChecker::check_selectable},
        {"CustomResourceDefinitionVersion.subresources", "subresources",
         &DefinitionChecker::check_subresources},
        {"CustomResourceDefinitionVersion.additionalPrinterColumns", "additionalPrinterColumns",
         &DefinitionChecker::check_columns},
    };
    for (const Part& part : kParts) {
      if (versions.empty()) return;
      if (is_common(versions, part.member) && kube::find(versions[0], part.member)) {
        (this->*part.check)(versions[0], fmt::format("spec.{}", part.common));
        continue;
      }
      for (std::size_t i = 0; i < versions.size(); ++i)
        (this->*part.check)(versions[i], fmt::format("spec.versions[{}].{}", i, part.member.key()));
    }
  }

  void check_schema(const json::value& version, const std::string& field) {
    const std::string here = field + ".openAPIV3Schema";
    const json::value* schema =
        kube::find(version, "CustomResourceDefinitionVersion.schema.openAPIV3Schema");
    if (!schema) return require(here, "");
    SchemaReading reading = read_schema(*schema, here);
    for (Cause& cause : reading.causes) out.causes.push_back(std::move(cause));
    for (const std::string& ignored : reading.ignored)
      out.warnings.push_back(
          fmt::format("{}: stored, but this server does not evaluate it", ignored));
  }

  void check_selectable(const json::value& version, const std::string& field) {
    const json::array& fields =
        kube::list_at(version, "CustomResourceDefinitionVersion.selectableFields");
    const json::value* schema =
        kube::find(version, "CustomResourceDefinitionVersion.schema.openAPIV3Schema");
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string_view path = kube::text_at(fields[i], "SelectableField.jsonPath");
      const json::value* at = schema;
      for (std::string_view step : split(path.substr(std::min<std::size_t>(path.size(), 1)), '.'))
        at = at ? kube::find(*at, "JSONSchemaProps.properties", step) : nullptr;
      if (!at)
        refuse(fmt::format("{}[{}].jsonPath", field, i), path,
               "is an invalid path: does not refer to a valid field");
    }
  }

  void check_subresources(const json::value& version, const std::string& field) {
    const json::value* scale =
        kube::find(version, "CustomResourceDefinitionVersion.subresources.scale");
    if (!scale) return;

    struct Path {
      kube::TextPath member;
      std::string_view below;
      bool required;
    };

    for (const Path& path :
         {Path{"CustomResourceSubresourceScale.specReplicasPath", ".spec", true},
          Path{"CustomResourceSubresourceScale.statusReplicasPath", ".status", true},
          Path{"CustomResourceSubresourceScale.labelSelectorPath", "", false}}) {
      const std::string_view value = kube::text_at(*scale, path.member);
      const std::string here = fmt::format("{}.scale.{}", field, path.member.key());
      if (value.empty()) {
        if (path.required) require(here, "");
      } else if (!value.starts_with(fmt::format("{}.", path.below))) {
        refuse(here, value,
               path.below.empty() ? "should be a json path under either .spec or .status"
                                  : fmt::format("should be a json path under {}", path.below));
      }
    }
  }

  void check_columns(const json::value& version, const std::string& field) {
    constexpr std::string_view kTypes[] = {"boolean", "date", "integer", "number", "string"};
    constexpr std::string_view kFormats[] = {"byte",  "date",  "date-time", "double",
                                             "float", "int32", "int64",     "password"};
    const json::array& columns =
        kube::list_at(version, "CustomResourceDefinitionVersion.additionalPrinterColumns");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string column = fmt::format("{}[{}]", field, i);
      const std::string_view type =
          kube::text_at(columns[i], "CustomResourceColumnDefinition.type");
      const std::string_view format =
          kube::text_at(columns[i], "CustomResourceColumnDefinition.format");
      const std::string_view path =
          kube::text_at(columns[i], "CustomResourceColumnDefinition.jsonPath");
      if (kube::text_at(columns[i], "CustomResourceColumnDefinition.name").empty())
        require(column + ".name", "");
      if (type.empty())
        require(column + ".type", fmt::format("must be one of {}", fmt::join(kTypes, ",")));
      else if (std::ranges::find(kTypes, type) == std::end(kTypes))
        refuse(column + ".type", type, fmt::format("must be one of {}", fmt::join(kTypes, ",")));
      if (!format.empty() && std::ranges::find(kFormats, format) == std::end(kFormats))
        refuse(column + ".format", format,
               fmt::format("must be one of {}", fmt::join(kFormats, ",")));
      if (path.empty())
        require(column + ".JSONPath", "");
      else if (!path.starts_with('.'))
        refuse(column + ".JSONPath", path, "must be a simple json path starting with .");
      else if (auto parsed = PrinterPath::parse(path); !parsed)
        refuse(column + ".JSONPath", path, parsed.error().message);
    }
  }
};

}  // namespace

DefinitionCheck check_definition(const json::value& definition, const json::value* before) {
  DefinitionChecker checker;
  if (before) checker.check_change(definition, *before);
  // A changed name is one mistake; further checks would report the same again.
  if (checker.out.causes.empty()) checker.check(definition);
  return std::move(checker.out);
}

}  // namespace plim::local::apiserver
