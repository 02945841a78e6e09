// Flags and examples of the webhook's commands, for the table of commands.
#pragma once

#include <array>

#include "cli/command.hpp"
#include "cli/servo_flags.hpp"

namespace plim::cli {

inline constexpr Flag kWebhookService{.name = "service",
                                      .metavar = "NAME",
                                      .fallback = "cpu-dev-pod-mutator-svc",
                                      .help = "name of the webhook's Service"};
inline constexpr Flag kWebhookSecret{.name = "secret",
                                     .metavar = "NAME",
                                     .fallback = "cpu-dev-webhook-secret",
                                     .help = "Secret with the certificates"};
inline constexpr Flag kWebhookConfigs{.name = "webhook-configs",
                                      .metavar = "NAME,...",
                                      .fallback = "cpu-device-pod-mutator-webhook-config",
                                      .help = "webhook configurations that get the caBundle",
                                      .rare = true};

inline constexpr std::array kWebhookCertsExamples{
    Example{"webhook certs", "create certificates, or renew them if due"},
    Example{"webhook certs -f deploy/pools/webhook-conf.yaml", "also create the configuration"},
    Example{"webhook certs --rotate authority",
            "create everything again; the old authority stays trusted"},
};
inline constexpr std::array kWebhookCertsFlags{
    Flag{.name = "file",
         .letter = 'f',
         .metavar = "FILE",
         .help = "webhook configuration to create if missing",
         .live = Live::file},
    kWebhookService,
    kWebhookSecret,
    Flag{.name = "rotate",
         .metavar = "WHAT",
         .fallback = "due",
         .help = "what to renew: only if due, or now",
         .choices = "due|serving|authority"},
    kWebhookConfigs,
};

inline constexpr std::array kWebhookExamples{
    Example{"webhook --tls-cert-file /certs/cert.pem --tls-private-key-file /certs/key.pem",
            "as in its Deployment"},
    Example{"webhook --tls-cert-file c.pem --tls-private-key-file k.pem --listen 127.0.0.1:8443",
            "on this machine, to test reviews"},
};
inline constexpr std::array kWebhookFlags{
    Flag{.name = "tls-cert-file",
         .metavar = "FILE",
         .help = "certificate; also tls.crt in its folder",
         .live = Live::file},
    Flag{.name = "tls-private-key-file",
         .metavar = "FILE",
         .help = "key of the certificate; also tls.key in its folder",
         .live = Live::file},
    Flag{.name = "self-signed",
         .type = Type::boolean,
         .fallback = "false",
         .help = "create and renew its own certificates"},
    Flag{
        .name = "listen", .metavar = "ADDRESS", .fallback = ":443", .help = "address to listen on"},
    Flag{.name = "poolconfigs",
         .metavar = "DIR,...",
         .help = "pool files of all nodes; configmap:NS/NAME",
         .live = Live::directory},
    Flag{.name = "process-starter-path",
         .metavar = "FILE",
         .fallback = "/opt/bin/process-starter",
         .help = "path of the starter"},
    Flag{.name = "starter-delivery",
         .metavar = "HOW",
         .fallback = "hostpath",
         .help = "how containers get the starter",
         .choices = "hostpath|plugin"},
    Flag{.name = "cfs-quotas",
         .metavar = "WHICH",
         .fallback = "all",
         .help = "containers whose cpu limit the webhook sets",
         .choices = "all|shared|none"},
    Flag{.name = "smt-width",
         .type = Type::integer,
         .metavar = "N",
         .fallback = "2",
         .help = "threads of a core, for multiThreaded pools"},
    Flag{.name = "unknown-pool",
         .metavar = "HOW",
         .fallback = "warn",
         .help = "what to do with requests for unknown pools",
         .choices = "warn|reject|allow"},
    rarely(kPodNamespaces),
    rarely(kOptuneAppId),
    Flag{.name = "optune-sleeper-img",
         .metavar = "IMAGE",
         .help = "image of the monitor for jobs; OPTUNE_SLEEPER_IMG",
         .rare = true},
    Flag{.name = "self-ip",
         .metavar = "ADDRESS",
         .help = "address of the servo, for the monitor; SELF_IP",
         .rare = true},
    kMeasuredContainer,
    Flag{.name = "service",
         .metavar = "NAME",
         .fallback = "cpu-dev-pod-mutator-svc",
         .help = "Service in self-signed certificates",
         .rare = true},
    Flag{.name = "secret",
         .metavar = "NAME",
         .fallback = "cpu-dev-webhook-secret",
         .help = "Secret with self-signed certificates",
         .rare = true},
    Flag{.name = "lease",
         .metavar = "NAME",
         .fallback = "plimsoll-webhook-certs",
         .help = "Lease of the replica that renews certificates",
         .rare = true},
    kWebhookConfigs,
};

}  // namespace plim::cli
