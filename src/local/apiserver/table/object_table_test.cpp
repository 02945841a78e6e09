#include "local/apiserver/table/object_table.hpp"

#include <gtest/gtest.h>

#include "base/rfc3339.hpp"
#include "local/apiserver/patch/testing/sample_types.hpp"

namespace plim::local::apiserver {
namespace {

using testing::doc;

const WallTime kToday = parse_rfc3339("2024-01-02T03:04:05Z").value();

// All cells, including wide ones, separated by bars.
std::string row(std::string_view group, std::string_view kind, const char* object) {
  const TableView& view = table_view(group, kind);
  const json::array cells = view.cells(doc(object), kToday);
  EXPECT_EQ(cells.size(), view.columns.size()) << kind;
  std::string out;
  for (const json::value& cell : cells) {
    if (&cell != &cells.front()) out += '|';
    out += cell.is_string() ? std::string(cell.get_string()) : to_json(cell);
  }
  return out;
}

// The header as kubectl prints it, with wide columns after a plus.
std::string header(std::string_view group, std::string_view kind) {
  std::string out;
  for (const TableColumn& column : table_view(group, kind).columns)
    out += (out.empty() ? "" : "|") + std::string(column.priority > 0 ? "+" : "") +
           std::string(column.name);
  return out;
}

struct Row {
  const char* group;
  const char* kind;
  const char* object;
  const char* cells;
};

TEST(Table, has_the_columns_that_kubectl_users_know) {
  struct Header {
    const char* group;
    const char* kind;
    const char* columns;
  };

  const Header headers[] = {
      {"", "Pod", "Name|Ready|Status|Restarts|Age|+IP|+Node|+Nominated Node|+Readiness Gates"},
      {"", "Node",
       "Name|Status|Roles|Age|Version|+Internal-IP|+External-IP|+OS-Image|+Kernel-Version|"
       "+Container-Runtime"},
      {"apps", "Deployment", "Name|Ready|Up-to-date|Available|Age|+Containers|+Images|+Selector"},
      {"apps", "ReplicaSet", "Name|Desired|Current|Ready|Age|+Containers|+Images|+Selector"},
      {"", "ReplicationController", "Name|Desired|Current|Ready|Age|+Containers|+Images|+Selector"},
      {"apps", "DaemonSet",
       "Name|Desired|Current|Ready|Up-to-date|Available|Node Selector|Age|+Containers|+Images|"
       "+Selector"},
      {"apps", "StatefulSet", "Name|Ready|Age|+Containers|+Images"},
      {"batch", "Job", "Name|Status|Completions|Duration|Age|+Containers|+Images|+Selector"},
      {"batch", "CronJob",
       "Name|Schedule|Timezone|Suspend|Active|Last Schedule|Age|+Containers|+Images|+Selector"},
      {"", "Service", "Name|Type|Cluster-IP|External-IP|Port(s)|Age|+Selector"},
      {"", "Event",
       "Last Seen|Type|Reason|Object|+Subobject|+Source|Message|+First Seen|+Count|+Name"},
      {"", "ConfigMap", "Name|Data|Age"},
      {"", "Secret", "Name|Type|Data|Age"},
      {"", "ServiceAccount", "Name|Age"},
      {"", "Namespace", "Name|Status|Age"},
      {"", "Endpoints", "Name|Endpoints|Age"},
      {"coordination.k8s.io", "Lease", "Name|Holder|Age"},
      {"policy", "PodDisruptionBudget",
       "Name|Min Available|Max Unavailable|Allowed Disruptions|Age"},
      {"scheduling.k8s.io", "PriorityClass", "Name|Value|Global-Default|Age|PreemptionPolicy"},
      {"admissionregistration.k8s.io", "MutatingWebhookConfiguration", "Name|Webhooks|Age"},
      {"rbac.authorization.k8s.io", "RoleBinding", "Name|Role|Age|+Users|+Groups|+ServiceAccounts"},
      {"autoscaling", "HorizontalPodAutoscaler",
       "Name|Reference|Targets|MinPods|MaxPods|Replicas|Age"},
      {"rbac.authorization.k8s.io", "Role", "Name|Created At"},
      {"", "LimitRange", "Name|Created At"},
      {"example.com", "Thing", "Name|Created At"},
      {"", "PersistentVolumeClaim",
       "Name|Status|Volume|Capacity|Access "
       "Modes|StorageClass|VolumeAttributesClass|Age|+VolumeMode"},
      {"discovery.k8s.io", "EndpointSlice", "Name|AddressType|Ports|Endpoints|Age"},
  };
  for (const Header& h : headers) EXPECT_EQ(header(h.group, h.kind), h.columns) << h.kind;
}

TEST(Table, marks_the_name_and_describes_every_column) {
  for (const char* kind : {"Pod", "Node", "Service", "Event", "Thing"}) {
    int names = 0;
    for (const TableColumn& column : table_view("", kind).columns) {
      EXPECT_FALSE(column.description.empty()) << kind << " " << column.name;
      if (column.format == "name") ++names;
    }
    EXPECT_EQ(names, 1) << kind;
  }
}

TEST(Table, fills_every_cell_of_an_empty_object) {
  for (const char* kind : {"Pod", "Node", "Service", "Event", "Endpoints", "Secret", "Thing",
                           "PersistentVolume", "PersistentVolumeClaim", "ResourceQuota"})
    EXPECT_NE(row("", kind, "{}"), "") << kind;
  EXPECT_EQ(row("", "ConfigMap", "{}"), "|0|<unknown>");
  EXPECT_EQ(row("", "Pod", "[]"), "|0/0||0|<unknown>|<none>|<none>|<none>|<none>");
}

TEST(Table, shows_workloads) {
  const Row rows[] = {
      {"apps", "Deployment",
       "{'metadata':{'name':'d','creationTimestamp':'2024-01-02T02:04:05Z'},'spec':{'replicas':3,"
       "'selector':{'matchLabels':{'app':'x'}},'template':{'spec':{'containers':[{'name':'a',"
       "'image':'i1'},{'name':'b','image':'i2'}]}}},'status':{'readyReplicas':2,"
       "'updatedReplicas':1,'availableReplicas':2}}",
       "d|2/3|1|2|60m|a,b|i1,i2|app=x"},
      {"apps", "ReplicaSet",
       "{'metadata':{'name':'r'},'spec':{'replicas':2,'selector':{'matchLabels':{'a':'b'},"
       "'matchExpressions':[{'key':'c','operator':'In','values':['d','e']}]}},"
       "'status':{'replicas':2}}",
       "r|2|2|0|<unknown>|||a=b,c in (d,e)"},
      {"", "ReplicationController",
       "{'metadata':{'name':'r'},'spec':{'replicas':1,'selector':{'b':'2','a':'1'}}}",
       "r|1|0|0|<unknown>|||a=1,b=2"},
      {"apps", "DaemonSet",
       "{'metadata':{'name':'s'},'spec':{'template':{'spec':{'nodeSelector':{'disk':'ssd'}}}},"
       "'status':{'desiredNumberScheduled':5,'currentNumberScheduled':4,'numberReady':3,"
       "'updatedNumberScheduled':2,'numberAvailable':1}}",
       "s|5|4|3|2|1|disk=ssd|<unknown>|||<none>"},
      {"apps", "StatefulSet", "{'metadata':{'name':'s'},'spec':{'replicas':2}}",
       "s|0/2|<unknown>||"},
      {"batch", "Job",
       "{'metadata':{'name':'j'},'spec':{'completions':3},'status':{'succeeded':3,"
       "'startTime':'2024-01-02T03:00:00Z','completionTime':'2024-01-02T03:01:15Z',"
       "'conditions':[{'type':'Complete','status':'True'}]}}",
       "j|Complete|3/3|75s|<unknown>|||<none>"},
      {"batch", "Job",
       "{'metadata':{'name':'j'},'spec':{'parallelism':4},'status':{"
       "'startTime':'2024-01-02T03:00:00Z'}}",
       "j|Running|0/1 of 4|4m5s|<unknown>|||<none>"},
      {"batch", "Job",
       "{'metadata':{'name':'j','deletionTimestamp':'2024-01-02T03:00:00Z'},'spec':{}}",
       "j|Terminating|0/1||<unknown>|||<none>"},
      {"batch", "Job",
       "{'metadata':{'name':'j'},'spec':{},'status':{'conditions':[{'type':'Suspended',"
       "'status':'True'}]}}",
       "j|Suspended|0/1||<unknown>|||<none>"},
      {"batch", "CronJob",
       "{'metadata':{'name':'c'},'spec':{'schedule':'* * * * *','suspend':false,'jobTemplate':{"
       "'spec':{'template':{'spec':{'containers':[{'name':'a','image':'i'}]}}}}},"
       "'status':{'active':[{}],'lastScheduleTime':'2024-01-02T03:04:00Z'}}",
       "c|* * * * *|<none>|False|1|5s|<unknown>|a|i|<none>"},
  };
  for (const Row& r : rows) EXPECT_EQ(row(r.group, r.kind, r.object), r.cells);
}

TEST(Table, shows_services_and_endpoints) {
  const Row rows[] = {
      {"", "Service",
       "{'metadata':{'name':'s'},'spec':{'type':'ClusterIP','clusterIP':'10.0.0.1','clusterIPs':"
       "['10.0.0.1'],'ports':[{'port':80,'protocol':'TCP'},{'port':53,'protocol':'UDP'}],"
       "'selector':{'a':'b'}}}",
       "s|ClusterIP|10.0.0.1|<none>|80/TCP,53/UDP|<unknown>|a=b"},
      {"", "Service",
       "{'metadata':{'name':'s'},'spec':{'type':'NodePort','clusterIPs':['10.0.0.1'],'ports':"
       "[{'port':80,'nodePort':30080,'protocol':'TCP'}],'externalIPs':['1.2.3.4','5.6.7.8']}}",
       "s|NodePort|10.0.0.1|1.2.3.4,5.6.7.8|80:30080/TCP|<unknown>|<none>"},
      {"", "Service", "{'metadata':{'name':'s'},'spec':{'type':'LoadBalancer'}}",
       "s|LoadBalancer|<none>|<pending>|<none>|<unknown>|<none>"},
      {"", "Service",
       "{'metadata':{'name':'s'},'spec':{'type':'LoadBalancer','externalIPs':['9.9.9.9']},"
       "'status':{'loadBalancer':{'ingress':[{'hostname':'h'},{'ip':'1.1.1.1'}]}}}",
       "s|LoadBalancer|<none>|1.1.1.1,h,9.9.9.9|<none>|<unknown>|<none>"},
      {"", "Service",
       "{'metadata':{'name':'s'},'spec':{'type':'ExternalName','externalName':'example.com'}}",
       "s|ExternalName|<none>|example.com|<none>|<unknown>|<none>"},
      {"", "Endpoints", "{'metadata':{'name':'e'}}", "e|<none>|<unknown>"},
      {"", "Endpoints",
       "{'metadata':{'name':'e'},'subsets':[{'addresses':[{'ip':'1.1.1.1'},{'ip':'2.2.2.2'}],"
       "'ports':[{'port':80},{'port':81}]}]}",
       "e|1.1.1.1:80,2.2.2.2:80,1.1.1.1:81 + 1 more...|<unknown>"},
      {"", "Endpoints", "{'metadata':{'name':'e'},'subsets':[{'addresses':[{'ip':'::1'}]}]}",
       "e|::1|<unknown>"},
      {"discovery.k8s.io", "EndpointSlice",
       "{'metadata':{'name':'e'},'addressType':'IPv4','ports':[{'port':80}],'endpoints':["
       "{'addresses':['1.1.1.1','2.2.2.2']},{'addresses':['3.3.3.3','4.4.4.4']}]}",
       "e|IPv4|80|1.1.1.1,2.2.2.2,3.3.3.3 + 1 more...|<unknown>"},
      {"networking.k8s.io", "Ingress",
       "{'metadata':{'name':'i'},'spec':{'rules':[{'host':'a'},{}],'tls':[{}]}}",
       "i|<none>|a||80, 443|<unknown>"},
  };
  for (const Row& r : rows) EXPECT_EQ(row(r.group, r.kind, r.object), r.cells);
}

TEST(Table, shows_nodes) {
  EXPECT_EQ(row("", "Node",
                "{'metadata':{'name':'n','labels':{'node-role.kubernetes.io/worker':'',"
                "'node-role.kubernetes.io/control-plane':'','kubernetes.io/role':'x'}},"
                "'spec':{'unschedulable':true},'status':{'conditions':[{'type':'Ready','status':"
                "'True'}],'addresses':[{'type':'InternalIP','address':'10.0.0.1'}],'nodeInfo':"
                "{'kubeletVersion':'v1.37.0','osImage':'Debian','kernelVersion':'6.1',"
                "'containerRuntimeVersion':'plimsoll://1'}}}"),
            "n|Ready,SchedulingDisabled|control-plane,worker,x|<unknown>|v1.37.0|10.0.0.1|<none>|"
            "Debian|6.1|plimsoll://1");
  EXPECT_EQ(row("", "Node",
                "{'metadata':{'name':'n'},'status':{'conditions':[{'type':'Ready',"
                "'status':'Unknown'}]}}"),
            "n|NotReady|<none>|<unknown>||<none>|<none>|<unknown>|<unknown>|<unknown>");
  EXPECT_EQ(row("", "Node", "{'metadata':{'name':'n'}}").substr(0, 9), "n|Unknown");
}

TEST(Table, shows_events_of_both_groups) {
  EXPECT_EQ(row("", "Event",
                "{'metadata':{'name':'e'},'type':'Normal','reason':'Pulled','involvedObject':{"
                "'kind':'Pod','name':'p','fieldPath':'spec.containers{c}'},'source':{'component':"
                "'kubelet','host':'n1'},'message':' done \\n','count':3,"
                "'firstTimestamp':'2024-01-02T03:00:05Z','lastTimestamp':'2024-01-02T03:04:00Z'}"),
            "5s|Normal|Pulled|pod/p|spec.containers{c}|kubelet, n1|done|4m|3|e");
  EXPECT_EQ(row("events.k8s.io", "Event",
                "{'metadata':{'name':'e'},'type':'Warning','reason':'Failed','regarding':{"
                "'kind':'Pod','name':'p'},'reportingController':'sched','note':'no',"
                "'eventTime':'2024-01-02T03:04:00.000001Z'}"),
            "4s|Warning|Failed|pod/p||sched|no|4s|1|e");
  EXPECT_EQ(row("", "Event",
                "{'metadata':{'name':'e'},'involvedObject':{'kind':'Node'},'series':{'count':7,"
                "'lastObservedTime':'2024-01-02T03:04:03.000000Z'}}"),
            "2s|||node||||<unknown>|7|e");
}

TEST(Table, shows_the_rest) {
  const Row rows[] = {
      {"", "ConfigMap", "{'metadata':{'name':'c'},'data':{'a':'','b':''},'binaryData':{'c':''}}",
       "c|3|<unknown>"},
      {"", "Secret", "{'metadata':{'name':'s'},'type':'Opaque','data':{'a':''}}",
       "s|Opaque|1|<unknown>"},
      {"", "ServiceAccount", "{'metadata':{'name':'s'}}", "s|<unknown>"},
      {"", "Namespace", "{'metadata':{'name':'n'},'status':{'phase':'Active'}}",
       "n|Active|<unknown>"},
      {"coordination.k8s.io", "Lease", "{'metadata':{'name':'l'},'spec':{'holderIdentity':'me'}}",
       "l|me|<unknown>"},
      {"policy", "PodDisruptionBudget",
       "{'metadata':{'name':'p'},'spec':{'minAvailable':'50%'},'status':{'disruptionsAllowed':2}}",
       "p|50%|N/A|2|<unknown>"},
      {"policy", "PodDisruptionBudget", "{'metadata':{'name':'p'},'spec':{'maxUnavailable':1}}",
       "p|N/A|1|0|<unknown>"},
      {"scheduling.k8s.io", "PriorityClass",
       "{'metadata':{'name':'p'},'value':100,'preemptionPolicy':'Never'}",
       "p|100|false|<unknown>|Never"},
      {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration",
       "{'metadata':{'name':'w'},'webhooks':[{},{}]}", "w|2|<unknown>"},
      {"rbac.authorization.k8s.io", "ClusterRoleBinding",
       "{'metadata':{'name':'b'},'roleRef':{'kind':'ClusterRole','name':'admin'},'subjects':["
       "{'kind':'User','name':'u'},{'kind':'User','name':'v'},{'kind':'ServiceAccount','name':'s',"
       "'namespace':'n'}]}",
       "b|ClusterRole/admin|<unknown>|u, v||n/s"},
      {"autoscaling", "HorizontalPodAutoscaler",
       "{'metadata':{'name':'h'},'spec':{'scaleTargetRef':{'kind':'Deployment','name':'d'},"
       "'maxReplicas':5,'metrics':[{'type':'Resource','resource':{'name':'cpu','target':{"
       "'averageUtilization':80}}},{'type':'External','external':{'target':{'averageValue':'5'}}},"
       "{'type':'Pods','pods':{'target':{'averageValue':'1'}}}]},'status':{'currentReplicas':2,"
       "'currentMetrics':[{'type':'Resource','resource':{'current':{'averageUtilization':12}}}]}}",
       "h|Deployment/d|cpu: 12%/80%, <unknown>/5 (avg) + 1 more...|<unset>|5|2|<unknown>"},
      {"rbac.authorization.k8s.io", "Role",
       "{'metadata':{'name':'r','creationTimestamp':'2024-01-01T00:00:00Z'}}",
       "r|2024-01-01T00:00:00Z"},
      {"", "ResourceQuota",
       "{'metadata':{'name':'q'},'status':{'hard':{'pods':'10','limits.cpu':'4','cpu':2},"
       "'used':{'pods':'3','limits.cpu':'1','cpu':1}}}",
       "q|cpu: 1/2, pods: 3/10|limits.cpu: 1/4|<unknown>"},
      {"", "PersistentVolumeClaim",
       "{'metadata':{'name':'c'},'spec':{'volumeName':'v','storageClassName':'s','volumeMode':"
       "'Filesystem'},'status':{'phase':'Bound','capacity':{'storage':'1Gi'},'accessModes':["
       "'ReadWriteMany','ReadWriteOnce']}}",
       "c|Bound|v|1Gi|RWO,RWX|s|<unset>|<unknown>|Filesystem"},
      {"storage.k8s.io", "StorageClass",
       "{'metadata':{'name':'s','annotations':{'storageclass.kubernetes.io/is-default-class':"
       "'true'}},'provisioner':'p'}",
       "s (default)|p|Delete|Immediate|false|<unknown>"},
      {"resource.k8s.io", "ResourceClaim",
       "{'metadata':{'name':'c'},'status':{'allocation':{},'reservedFor':[{}]}}",
       "c|allocated,reserved|<unknown>"},
      {"resource.k8s.io", "DeviceTaintRule",
       "{'metadata':{'name':'r'},'spec':{'taint':{'key':'k','value':'v','effect':'NoSchedule'}}}",
       "r|k|v|NoSchedule||<unknown>"},
      {"resource.k8s.io", "DeviceTaintRule",
       "{'metadata':{'name':'r'},'spec':{'taint':{'key':'k','effect':'NoExecute',"
       "'timeAdded':'2024-01-02T03:02:05Z'}}}",
       "r|k||NoExecute|2m|<unknown>"},
  };
  for (const Row& r : rows) EXPECT_EQ(row(r.group, r.kind, r.object), r.cells);
}

TEST(Table, prints_ages_as_kubectl_does) {
  const std::pair<const char*, const char*> ages[] = {
      {"2024-01-02T03:04:05Z", "0s"},    {"2024-01-02T03:02:06Z", "119s"},
      {"2024-01-02T03:02:05Z", "2m"},    {"2024-01-02T02:54:06Z", "9m59s"},
      {"2024-01-02T02:54:05Z", "10m"},   {"2024-01-02T00:04:06Z", "179m"},
      {"2024-01-02T00:04:05Z", "3h"},    {"2024-01-01T19:04:06Z", "7h59m"},
      {"2023-12-31T03:04:06Z", "47h"},   {"2023-12-31T03:04:05Z", "2d"},
      {"2023-12-25T04:04:05Z", "7d23h"}, {"2023-12-25T03:04:05Z", "8d"},
      {"2021-12-23T03:04:05Z", "2y10d"}, {"", "<unknown>"},
      {"yesterday", "<unknown>"},
  };
  for (const auto& [time, age] : ages) EXPECT_EQ(human_age(time, kToday), age) << time;
}

}  // namespace
}  // namespace plim::local::apiserver
