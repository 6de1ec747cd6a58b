"""The rim of admission: an HTTPS server that answers reviews, and what makes API servers call and trust it.

`Webhook` runs what a `Plan` says: `server` takes bytes, `answering` looks up and judges, `wire` speaks AdmissionReview;
`certificates` decides, `installing` keeps the Secret and the two `configurations` as they must be.
"""

from modeldeployment.admission.webhook.running import Plan, Webhook

__all__ = ["Plan", "Webhook"]
